import { legacyEmailKey } from '../../../kernel/email.ts'
import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import type { Metadata } from '../../../kernel/metadata.ts'
import type { MetadataRequest } from '../../../kernel/metadata-request.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import { readChangedRowsPage } from '../../../platform/postgres/changed-rows.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import { lastAdminMustRemainError, sessionNotFoundError, userNotFoundError } from '../errors.ts'
import type { SessionService } from '../sessions/service.ts'
import type { UserRow } from '../users/repository.ts'
import * as repository from '../users/repository.ts'
import type { UserRole } from '../users/schema.ts'

export type UserWithDisabledAt = UserRow & {
  disabled_at: Date | null
  updated_at: Date
  private_metadata: Metadata
}
/**
 * `search`: prefix of an e-mail address or name, case-insensitive. `updated_since`: users that changed since this time, the
 * oldest change first, without other filters.
 */
export type AccountListQuery = PageQuery & {
  role?: UserRole
  disabled?: boolean
  search?: string
  updated_since?: string
  metadata?: Metadata
}

/** Manages accounts for administrators. */
export function createAccountAdministration({ db, sessions }: { db: Database; sessions: SessionService }) {
  /** Serializes concurrent changes, so that at least one administrator remains. @throws `AUTH_LAST_ADMIN`. */
  async function requireAnotherAdmin(tx: Transaction, id: string): Promise<void> {
    await tx.run(repository.lockAdminChanges)
    if ((await tx.first(repository.isLastFullAccessAdmin, { id }))?.found === true)
      throw lastAdminMustRemainError()
  }

  async function requireUser(tx: Transaction, id: string): Promise<void> {
    if ((await tx.first(repository.lockUser, { id })) === undefined) throw userNotFoundError()
  }

  return {
    requireAnotherAdmin,

    list: (all: AccountListQuery): Promise<Page<UserWithDisabledAt>> => {
      const { role, disabled, search, updated_since, metadata = null, ...query } = all
      if (updated_since !== undefined)
        return readChangedRowsPage(
          db,
          { ...all, updated_since },
          {
            name: 'users',
            start: { after: LOWEST_ID },
            rows: place => db.rows(repository.listChangedUsers, place),
            placeOf: ({ changed_at: at, id: after }) => ({ after, at }),
            total: since => db.first(repository.countChangedUsers, since)
          }
        )
      const filters = {
        role: role ?? null,
        disabled: disabled ?? null,
        email: search === undefined ? null : legacyEmailKey(search),
        name: search?.toLowerCase() ?? null
      }
      return readPage(query, {
        ...newestFirst,
        name: 'users',
        filters: { ...filters, metadata },
        rows: place =>
          metadata === null
            ? db.rows(repository.listUsers, { ...filters, ...place })
            : db.rows(repository.listUsersMatchingMetadata, { ...filters, metadata, ...place }),
        total: () =>
          metadata === null
            ? db.first(repository.countUsers, filters)
            : db.first(repository.countUsersMatchingMetadata, { ...filters, metadata })
      })
    },

    /** @throws `AUTH_USER_NOT_FOUND`. */
    find: async (id: string): Promise<UserWithDisabledAt> =>
      found(await db.first(repository.findUserWithDisabledAt, { id }), userNotFoundError),

    registered: (starts: readonly Date[], end: Date) =>
      db.rows(repository.countRegistrationsByDay, { starts: starts.map(start => start.toISOString()), end }),

    /** Disables an account and ends its sessions, or enables it. @throws `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`. */
    async disable(tx: Transaction, id: string, disabled: boolean): Promise<void> {
      if (disabled) await requireAnotherAdmin(tx, id)
      await requireUser(tx, id)
      await tx.run(repository.updateUserDisabled, { id, disabled })
      await sessions.endAll(tx, id, null)
    },

    /** Changes role and scopes. Sessions continue with the new permissions. @throws `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`. */
    async grant(
      tx: Transaction,
      id: string,
      role: UserRole,
      scopes: readonly string[] | null
    ): Promise<void> {
      if (role !== 'admin' || scopes !== null) await requireAnotherAdmin(tx, id)
      await requireUser(tx, id)
      await tx.run(repository.updateUserRole, { id, role, scopes: role === 'admin' ? scopes : null })
      await sessions.verifyAgain(tx, id)
    },

    /** @throws `AUTH_USER_NOT_FOUND`, `METADATA_LIMIT`. */
    async updateMetadata(tx: Transaction, id: string, changes: MetadataRequest): Promise<void> {
      await requireUser(tx, id)
      await changeMetadata(tx, repository.updateUserMetadata, { ...changes, id })
    },

    /** @throws `AUTH_USER_NOT_FOUND`, `AUTH_SESSION_NOT_FOUND` when the user has no session of this id. */
    async endSession(tx: Transaction, id: string, sessionId: string): Promise<void> {
      await requireUser(tx, id)
      if (!(await sessions.endIn(tx, sessionId, id))) throw sessionNotFoundError()
    },

    /** @throws `AUTH_USER_NOT_FOUND`. */
    async endSessions(tx: Transaction, id: string): Promise<void> {
      await requireUser(tx, id)
      await sessions.endAll(tx, id, null)
    }
  }
}
export type AccountAdministration = ReturnType<typeof createAccountAdministration>
