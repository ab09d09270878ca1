import type { MetadataRequest } from '../../../kernel/metadata-request.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { AuthApi } from '../../auth/index.ts'
import { adminScopeUnknownError, ownAccountChangeForbiddenError } from '../errors.ts'
import type { ManageUserRequest, UserListQuery, UserSessionListQuery } from './schema.ts'

type Deps = { db: Database; auth: AuthApi; modules: readonly { readonly name: string }[] }

/**
 * Manages accounts, for administrators with full access. Administrators cannot change their own rights, and the last one with
 * full access keeps them.
 */
export function createUserAdministration({ db, auth, modules }: Deps) {
  const names = modules.map(({ name }) => name)
  const assertOtherAccount = (actor: string, id: string) => {
    if (actor === id) throw ownAccountChangeForbiddenError()
  }

  return {
    list: ({ q, ...query }: UserListQuery) =>
      auth.listUsers({ ...query, ...(q !== undefined && { search: q }) }),

    /** @throws `AUTH_USER_NOT_FOUND` */
    read: auth.user,

    /** @throws `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`, `ADMIN_OWN_ACCOUNT`, `ADMIN_SCOPE_UNKNOWN` */
    async patch(actor: string, id: string, { rights, disabled }: ManageUserRequest, write: IdempotentWrite) {
      assertOtherAccount(actor, id)
      const unknown = rights?.scopes?.find(scope => !names.includes(scope))
      if (unknown !== undefined) throw adminScopeUnknownError({ details: { scope: unknown, modules: names } })
      // A request may contain fields of other modules only, which are written for any id.
      await auth.user(id)
      await write.once(db, async tx => {
        if (rights !== undefined) await auth.setRoleById(tx, id, rights.role, rights.scopes)
        if (disabled !== undefined) await auth.setDisabledById(tx, id, disabled)
      })
      return auth.user(id)
    },

    /** @throws `AUTH_USER_NOT_FOUND`, `METADATA_LIMIT` */
    async updateMetadata(id: string, changes: MetadataRequest, write: IdempotentWrite) {
      await write.once(db, tx => auth.updateUserMetadata(tx, id, changes))
      return auth.user(id)
    },

    /** @throws `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`, `ADMIN_OWN_ACCOUNT`, and errors of modules that prevent the erasure */
    async erase(actor: string, id: string, write: IdempotentWrite): Promise<void> {
      assertOtherAccount(actor, id)
      await write.once(db, tx => auth.eraseUser(tx, id))
    },

    /** @throws `AUTH_USER_NOT_FOUND` */
    async export(id: string) {
      await auth.user(id)
      return auth.exportUser(id)
    },

    /** @throws `AUTH_USER_NOT_FOUND` */
    async sessions(id: string, query: UserSessionListQuery) {
      await auth.user(id)
      return auth.sessionsOf(id, query)
    },

    /** @throws `AUTH_USER_NOT_FOUND`, `AUTH_SESSION_NOT_FOUND` */
    async endSession(id: string, sessionId: string, write: IdempotentWrite): Promise<void> {
      await write.once(db, tx => auth.endSession(tx, id, sessionId))
    },

    /** @throws `AUTH_USER_NOT_FOUND` */
    async endSessions(id: string, write: IdempotentWrite): Promise<void> {
      await write.once(db, tx => auth.endSessions(tx, id))
    }
  }
}
export type UserAdministration = ReturnType<typeof createUserAdministration>
