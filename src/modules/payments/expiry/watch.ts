import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { orderNotFound } from '../errors.ts'
import { authorizationExpiring } from '../events.ts'
import { lockAccount } from '../facts/repository.ts'
import { insertOperations } from '../operations/repository.ts'
import * as repository from './repository.ts'

const BATCH = 100

type Deps = {
  db: Database
  log: Log
  emit: Emit
  /** Has it sent soon after the commit. */
  wake: (tx: Transaction, operationId: string) => void
  /** Whether it is taken, or only said. */
  takes: boolean
}

/** What is held and runs out within a day: each payment is looked at once. */
export function createExpiryWatch({ db, log, emit, wake, takes }: Deps) {
  async function look(tx: Transaction, payment_id: string, order_id: string): Promise<void> {
    const account = found(await tx.first(lockAccount, { order_id }), orderNotFound)
    const noted = await tx.first(repository.noteExpiry, { id: payment_id })
    if (noted === undefined || noted.authorized_until === null) return
    const { authorized, authorized_until, is_busy } = noted
    const amount = Math.min(authorized, Math.max(0, account.due - account.captured))
    const is_captured = takes && !is_busy && account.frozen_at === null && amount > 0
    if (is_captured) {
      const id = derivedId(payment_id, 'capture before it runs out')
      const operation = { ids: [id], paymentIds: [payment_id], amounts: [amount] }
      const reason = 'what is held runs out'
      await tx.run(insertOperations, { ...operation, kind: 'capture', reason, actor: null })
      wake(tx, id)
    }
    const expires_at = authorized_until.toISOString()
    const { currency } = account
    emit(tx, authorizationExpiring, order_id, {
      order_id,
      currency,
      payment_id,
      authorized,
      expires_at,
      is_captured
    })
    tx.afterCommit(() =>
      log.warn({ payment_id, order_id, expires_at, is_captured }, 'what is held for an order runs out')
    )
  }

  /** One that cannot be looked at holds up no other; it is found again. */
  const lookSurely = (id: string, order_id: string) =>
    db
      .transaction(tx => look(tx, id, order_id))
      .catch(error => log.error({ err: error, payment_id: id }, 'what is held could not be looked at'))

  return async (signal: AbortSignal): Promise<void> => {
    const due = await db.rows(repository.listExpiring, { limit: BATCH })
    for (const { id, order_id } of due) if (!signal.aborted) await lookSurely(id, order_id)
  }
}
