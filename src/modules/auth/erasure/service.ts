import { DomainError, found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit, Enqueue } from '../../../platform/outbox/outbox.ts'
import type { PersonalDataHandler } from '../../../platform/personal-data.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  accountDeletionConfirmationRequiredError,
  invalidAccessTokenError,
  userNotFoundError
} from '../errors.ts'
import { eraseLateUserDataJob, userDeletedEvent } from '../events.ts'
import type { PasswordCheckingService } from '../passwords/service.ts'
import type { SessionService } from '../sessions/service.ts'
import * as users from '../users/repository.ts'
import * as repository from './repository.ts'
import type { AccountExportResponse, DeleteAccountRequest } from './schema.ts'

export type AccountErasureDeps = {
  db: Database
  emit: Emit
  enqueue: Enqueue
  passwords: PasswordCheckingService
  sessions: SessionService
  /** Personal data of all modules, by name. */
  personalData: () => ReadonlyMap<string, PersonalDataHandler>
  /** @throws when this is the last administrator with full access. */
  requireAnotherAdmin: (tx: Transaction, id: string) => Promise<void>
}

/** Seconds until the erasure is repeated. No request takes longer, so writes that overlapped with the deletion have ended. */
const ERASE_AGAIN_SECONDS = 60
const DAY_SECONDS = 86_400

/** Deletes accounts and exports personal data. */
export function createAccountErasure(deps: AccountErasureDeps) {
  const { db, emit, enqueue, passwords, sessions, personalData, requireAnotherAdmin } = deps

  const eraseAll = async (tx: Transaction, id: string): Promise<void> => {
    for (const each of personalData().values()) await each.erase(tx, id)
  }

  const scheduleErasure = (tx: Transaction, user_id: string, delaySeconds: number) =>
    enqueue(tx, eraseLateUserDataJob, { user_id }, { subject: user_id, delaySeconds })

  /** @throws `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`, and errors of other modules that forbid it. */
  async function erase(tx: Transaction, id: string): Promise<void> {
    await requireAnotherAdmin(tx, id)
    await eraseAll(tx, id)
    await sessions.endAll(tx, id, null)
    if ((await tx.run(repository.deleteUser, { id })) === 0) throw userNotFoundError()
    emit(tx, userDeletedEvent, id, { user_id: id })
    scheduleErasure(tx, id, ERASE_AGAIN_SECONDS)
  }

  /** @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_CONFIRMATION_REQUIRED`. */
  async function proveOwner(
    id: string,
    { password, confirm }: DeleteAccountRequest,
    { withoutSlot }: IdempotentWrite
  ): Promise<void> {
    const user = found(await db.first(users.findUser, { id }), invalidAccessTokenError)
    if (user.password_hash !== null) {
      await passwords.verifyOwn(user, password ?? '', { path: 'body/password', withoutSlot })
    } else if (confirm !== true) throw accountDeletionConfirmationRequiredError()
  }

  return {
    erase,

    /** @throws as `erase`, and `AUTH_INVALID_CREDENTIALS`, `AUTH_CONFIRMATION_REQUIRED`. */
    async deleteOwnAccount(
      { userId }: { userId: string },
      body: DeleteAccountRequest,
      write: IdempotentWrite
    ): Promise<void> {
      if (write.alreadyApplied) return
      await proveOwner(userId, body, write)
      await write.once(db, tx => erase(tx, userId))
    },

    /** Erases data that was written during the deletion. Retries a day later while an order is still open. */
    async eraseAgain(userId: string): Promise<void> {
      try {
        await db.transaction(tx => eraseAll(tx, userId))
      } catch (error) {
        if (!(error instanceof DomainError && error.kind === 'conflict')) throw error
        await db.transaction(async tx => scheduleErasure(tx, userId, DAY_SECONDS))
      }
    },

    /** Exports one module after the other, so that an export holds one connection. */
    async export(userId: string): Promise<AccountExportResponse> {
      const parts: Record<string, unknown> = {}
      for (const [module, each] of personalData()) parts[module] = await each.export(userId)
      return { user_id: userId, exported_at: new Date(), parts }
    }
  }
}
export type AccountErasure = ReturnType<typeof createAccountErasure>

/** Exports the personal data of auth. */
export async function exportPersonalDataOfAuth(db: Database, id: string) {
  const account = await db.first(repository.findUserForExport, { id })
  return {
    account: account ?? null,
    addresses: await db.rows(repository.listAddressesForExport, { id }),
    sessions: await db.rows(repository.listSessionsForExport, { id }),
    external_identities: await db.rows(repository.listExternalIdentitiesForExport, { id })
  }
}
