import { newId } from '../../../kernel/ids.ts'
import { pageOf } from '../../../kernel/pages.ts'
import type { Database } from '../../../platform/postgres.ts'
import { idOfCursor } from '../cursor.ts'
import { invitationNotFound } from '../errors.ts'
import { hashSecret, newSecret } from '../secrets.ts'
import * as repository from './repository.ts'

const CODE_PREFIX = 'inv_'
const DAYS = 14

export function createInvitationService({ db }: { db: Database }) {
  return {
    /** Makes an invitation. Its code is in this answer and nowhere else. */
    async create(adminId: string, { expires_in_days: days = DAYS }: { expires_in_days?: number }) {
      const code = newSecret(CODE_PREFIX)
      const invitation = { id: newId(), codeHash: hashSecret(code), createdBy: adminId, days }
      return { ...present(await repository.insert(db, invitation)), code }
    },

    async list({ limit = 20, cursor }: { limit?: number; cursor?: string }) {
      const rows = await repository.list(db, idOfCursor(cursor), limit + 1)
      return pageOf(rows, limit, row => [row.id], present)
    },

    /** @throws `AUTH_INVITATION_NOT_FOUND`. */
    async remove(id: string): Promise<void> {
      if (!(await repository.remove(db, id))) throw invitationNotFound()
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
