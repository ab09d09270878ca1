import { emailDomain, normalizeEmail } from '../../../kernel/email.ts'
import { newId } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { suppressionNotFoundError } from '../errors.ts'
import * as repository from './repository.ts'
import type { SuppressionQuery, SuppressionResponse } from './schema.ts'

const PURPOSE = 'notifications.suppressions'

type Deps = {
  db: Database
  secrets: Pick<Secrets, 'mac' | 'everyMac'>
  /** Consecutive bounces after which nothing is sent to an address. */
  bouncesMax: number
}

/** The suppression list: addresses that bounced, or whose owners unsubscribed. */
export function createSuppressionList({ db, secrets, bouncesMax }: Deps) {
  const hashesOf = (address: string) => [...secrets.everyMac(PURPOSE, address)]
  return {
    /**
     * Returns as `reason` why a mail is not sent to the address; undefined: it may be sent. `isOptional`: recipients can
     * unsubscribe from the mail. `hasBounced` is also true below the limit of bounces.
     */
    check: async (address: string, isOptional: boolean) => {
      const rows = await db.rows(repository.listSuppressionsOfAddress, { hashes: hashesOf(address) })
      const hit = rows.find(({ reason, times }) => (reason === 'bounced' ? times >= bouncesMax : isOptional))
      return { reason: hit?.reason, hasBounced: rows.some(({ reason }) => reason === 'bounced') }
    },
    /** Restarts the count of consecutive bounces, because a mail was accepted for the address. */
    clearBounces: async (address: string): Promise<void> => {
      await db.run(repository.deleteBounceSuppressions, { hashes: hashesOf(address) })
    },
    add: async (to: Queryable, address: string, reason: repository.SuppressionReason): Promise<void> => {
      await to.run(repository.recordSuppression, {
        id: newId(),
        address_hash: secrets.mac(PURPOSE, address),
        address_masked: maskEmailAddress(address),
        reason
      })
    },
    list: ({ address, ...query }: SuppressionQuery): Promise<Page<SuppressionResponse>> => {
      const filters = {
        any_address: address === undefined,
        hashes: address === undefined ? [] : hashesOf(normalizeEmail(address))
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
    remove: async (id: string, write: IdempotentWrite): Promise<void> => {
      await write.once(db, async tx => {
        if ((await tx.run(repository.deleteSuppression, { id })) === 0) throw suppressionNotFoundError()
      })
    }
  }
}
export type SuppressionList = ReturnType<typeof createSuppressionList>

/** Returns the first letter and the domain, so that administrators recognize an address: `a***@example.com`. */
export const maskEmailAddress = (address: string): string =>
  `${[...address][0] ?? ''}***@${emailDomain(address)}`
