import { DomainError, found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit, Enqueue } from '../../../platform/outbox/outbox.ts'
import type { People } from '../../../platform/people.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import * as users from '../accounts/repository.ts'
import { confirmationRequired, invalidToken, userNotFound } from '../errors.ts'
import { eraseAgain, userDeleted } from '../events.ts'
import type { Passwords } from '../passwords/service.ts'
import type { SessionService } from '../sessions/service.ts'
import * as repository from './repository.ts'
import type { AccountExportResponse, DeleteAccountRequest } from './schema.ts'

export type ErasureDeps = {
  db: Database
  emit: Emit
  enqueue: Enqueue
  passwords: Passwords
  sessions: SessionService
  /** Of every module, by its name. */
  people: () => ReadonlyMap<string, People>
  /** @throws when this is the last one who may do everything. */
  requireAnotherAdmin: (tx: Transaction, id: string) => Promise<void>
}

/** Longer than any request takes: what somebody was writing while they left is there by then. */
const AGAIN_SECONDS = 60
const DAY_SECONDS = 86_400

/** How somebody leaves, and how they see what is kept of them. */
export function createErasure(deps: ErasureDeps) {
  const { db, emit, enqueue, passwords, sessions, people, requireAnotherAdmin } = deps

  const eraseAll = async (tx: Transaction, id: string): Promise<void> => {
    for (const each of people().values()) await each.erase(tx, id)
  }

  const askAgain = (tx: Transaction, user_id: string, delaySeconds: number) =>
    enqueue(tx, eraseAgain, { user_id }, { subject: user_id, delaySeconds })

  /** @throws `AUTH_USER_NOT_FOUND`, `AUTH_LAST_ADMIN`, and what forbids it in another module. */
  async function erase(tx: Transaction, id: string): Promise<void> {
    await requireAnotherAdmin(tx, id)
    await eraseAll(tx, id)
    await sessions.endAll(tx, id, null)
    if ((await tx.run(repository.deleteUser, { id })) === 0) throw userNotFound()
    emit(tx, userDeleted, id, { user_id: id })
    askAgain(tx, id, AGAIN_SECONDS)
  }

  /** @throws `AUTH_INVALID_CREDENTIALS`, `AUTH_CONFIRMATION_REQUIRED`. */
  async function proveOwner(
    id: string,
    { password, confirm }: DeleteAccountRequest,
    { withoutSlot }: Write
  ): Promise<void> {
    const user = found(await db.first(users.findUser, { id }), invalidToken)
    if (user.password_hash !== null) {
      await passwords.proveOwn(user, password ?? '', { path: 'body/password', withoutSlot })
    } else if (confirm !== true) throw confirmationRequired()
  }

  return {
    erase,

    /** @throws as `erase`, and `AUTH_INVALID_CREDENTIALS`, `AUTH_CONFIRMATION_REQUIRED`. */
    async leave({ userId }: { userId: string }, body: DeleteAccountRequest, write: Write): Promise<void> {
      if (write.alreadyApplied) return
      await proveOwner(userId, body, write)
      await write.once(db, tx => erase(tx, userId))
    },

    /** Once more, for what was written while they left. An order of that moment is waited for. */
    async eraseAgain(userId: string): Promise<void> {
      try {
        await db.transaction(tx => eraseAll(tx, userId))
      } catch (error) {
        if (!(error instanceof DomainError && error.kind === 'conflict')) throw error
        await db.transaction(async tx => askAgain(tx, userId, DAY_SECONDS))
      }
    },

    /** One module after the other, so that an export holds one connection. */
    async export(userId: string): Promise<AccountExportResponse> {
      const parts: Record<string, unknown> = {}
      for (const [module, each] of people()) parts[module] = await each.export(userId)
      return { user_id: userId, exported_at: new Date(), parts }
    }
  }
}
export type Erasure = ReturnType<typeof createErasure>

/** What auth itself tells. */
export async function exportAccount(db: Database, id: string) {
  const account = await db.first(repository.exportUser, { id })
  return {
    account: account ?? null,
    addresses: await db.rows(repository.exportAddresses, { id }),
    sessions: await db.rows(repository.exportSessions, { id }),
    external_identities: await db.rows(repository.exportIdentities, { id })
  }
}
