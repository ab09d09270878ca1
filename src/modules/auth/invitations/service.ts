import { found } from '../../../kernel/errors.ts'
import { newestFirst, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { invitationNotFoundError } from '../errors.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import * as repository from './repository.ts'

const PURPOSE = 'auth.invitation'
const DAYS = 14

export function createInvitationService({ db, secrets }: { db: Database; secrets: Secrets }) {
  /** Derives the code from the id, so that a retry gets the same code although only its hash is stored. */
  const codesOf = (id: string) => secrets.everyMac(PURPOSE, id).map(mac => `inv_${mac}`)

  return {
    /** Creates an invitation. Only this response contains its code. */
    async create(
      adminId: string,
      { expires_in_days: days = DAYS }: { expires_in_days?: number },
      write: IdempotentWrite
    ) {
      const { id } = write
      const codeHash = hashSecret(codesOf(id)[0] as string)
      await write.once(db, tx =>
        tx.run(repository.insertRegistrationInvitation, { id, codeHash, createdBy: adminId, days })
      )
      const row = await db.first(repository.findRegistrationInvitation, { id })
      const { code_hash: stored, ...invitation } = found(row, invitationNotFoundError)
      const code = codesOf(id).find(each => stored.equals(hashSecret(each)))
      return { ...invitation, code: found(code, invitationNotFoundError) }
    },

    list: (query: PageQuery) =>
      readPage(query, {
        ...newestFirst,
        name: 'invitations',
        rows: page => db.rows(repository.listRegistrationInvitations, page),
        total: () => db.first(repository.countRegistrationInvitations)
      }),

    /** @throws `AUTH_INVITATION_NOT_FOUND`. */
    async remove(id: string, write: IdempotentWrite): Promise<void> {
      await write.once(db, async tx => {
        if ((await tx.run(repository.deleteRegistrationInvitation, { id })) === 0)
          throw invitationNotFoundError()
      })
    }
  }
}
export type InvitationService = ReturnType<typeof createInvitationService>
