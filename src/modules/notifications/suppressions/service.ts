import { domainOf, normaliseEmail } from '../../../kernel/email.ts'
import { newId } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { suppressionNotFound } from '../errors.ts'
import * as repository from './repository.ts'
import type { SuppressionQuery, SuppressionResponse } from './schema.ts'

const PURPOSE = 'notifications.suppressions'

type Deps = {
  db: Database
  secrets: Pick<Secrets, 'mac' | 'everyMac'>
  /** So often nobody was at an address before nothing is sent there any more. */
  bouncesMax: number
}

/** Addresses to which less is sent, or nothing. */
export function createSuppressions({ db, secrets, bouncesMax }: Deps) {
  const hashesOf = (address: string) => [...secrets.everyMac(PURPOSE, address)]
  return {
    /**
     * Why nothing is sent there: somebody wants no more of what they may not want, or nobody is there. And whether nobody
     * has been there before.
     */
    find: async (address: string, isOptional: boolean) => {
      const found = await db.rows(repository.listOfAddress, { hashes: hashesOf(address) })
      const hit = found.find(({ reason, times }) => (reason === 'bounced' ? times >= bouncesMax : isOptional))
      return { reason: hit?.reason, hasBounced: found.some(({ reason }) => reason === 'bounced') }
    },
    /** Something arrived there: what is refused from now on is counted anew. */
    forgetBounces: async (address: string): Promise<void> => {
      await db.run(repository.forgetBounces, { hashes: hashesOf(address) })
    },
    add: async (to: Queryable, address: string, reason: repository.SuppressionReason): Promise<void> => {
      await to.run(repository.suppress, {
        ...{ id: newId(), address_hash: secrets.mac(PURPOSE, address) },
        ...{ address_masked: masked(address), reason }
      })
    },
    list: ({ address, ...query }: SuppressionQuery): Promise<Page<SuppressionResponse>> => {
      const filters = {
        any_address: address === undefined,
        hashes: address === undefined ? [] : hashesOf(normaliseEmail(address))
      }
      return readPage(query, {
        name: 'suppressions',
        filters,
        ...newestFirst,
        rows: place => db.rows(repository.listSuppressions, { ...filters, ...place }),
        total: () => db.first(repository.countSuppressions, filters)
      })
    },
    /** @throws `NOTIFICATION_SUPPRESSION_NOT_FOUND` */
    lift: async (id: string, write: Write): Promise<void> => {
      await write.once(db, async tx => {
        if ((await tx.run(repository.deleteSuppression, { id })) === 0) throw suppressionNotFound()
      })
    }
  }
}
export type Suppressions = ReturnType<typeof createSuppressions>

/** For people to recognise: the first letter, and the domain. */
export const masked = (address: string): string => `${[...address][0] ?? ''}***@${domainOf(address)}`
