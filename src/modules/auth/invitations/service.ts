import { pageOf } from '../../../kernel/pages.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { Secrets } from '../../../platform/secrets/secrets.ts'
import { invitationNotFound } from '../errors.ts'
import { hashSecret } from '../passwords/random-secrets.ts'
import { idOfCursor } from '../sessions/cursor.ts'
import * as repository from './repository.ts'

const PURPOSE = 'auth.invitation'
const DAYS = 14

export function createInvitationService({ db, secrets }: { db: Database; secrets: Secrets }) {
  /** Computed from the id, so that a request whose answer was lost gets the same one again, which lies nowhere. */
  const codesOf = (id: string) => secrets.everyMac(PURPOSE, id).map(mac => `inv_${mac}`)

  return {
    /** Makes an invitation. Its code is in this answer and nowhere else. */
    async create(
      adminId: string,
      { expires_in_days: days = DAYS }: { expires_in_days?: number },
      write: Write
    ) {
      const { id } = write
      const codeHash = hashSecret(codesOf(id)[0] as string)
      await write.once(db, tx =>
        tx.run(repository.insertInvitation, { id, codeHash, createdBy: adminId, days })
      )
      const row = await db.first(repository.findInvitation, { id })
      const code = codesOf(id).find(each => row?.code_hash.equals(hashSecret(each)))
      if (row === undefined || code === undefined) throw invitationNotFound()
      return { ...present(row), code }
    },

    async list({ limit = 20, cursor }: { limit?: number; cursor?: string }) {
      const rows = await db.rows(repository.listInvitations, { before: idOfCursor(cursor), limit: limit + 1 })
      return pageOf(rows, limit, row => [row.id], present)
    },

    /** @throws `AUTH_INVITATION_NOT_FOUND`. */
    async remove(id: string, write: Write): Promise<void> {
      await write.once(db, async tx => {
        if ((await tx.run(repository.deleteInvitation, { id })) === 0) throw invitationNotFound()
      })
    }
  }
}
export type InvitationService = ReturnType<typeof createInvitationService>

const present = (row: repository.InvitationRow) => ({
  id: row.id,
  created_at: row.created_at.toISOString(),
  expires_at: row.expires_at.toISOString(),
  used_at: row.used_at?.toISOString() ?? null,
  used_by: row.used_by
})
