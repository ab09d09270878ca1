import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { payableOrderNotFoundError } from '../errors.ts'
import { authorizationExpiringEvent } from '../events.ts'
import { lockOrderPaymentAccount } from '../facts/repository.ts'
import { insertPaymentOperations } from '../payments/operation-repository.ts'
import type { PaymentProviderRegistry } from '../providers/registry.ts'
import * as repository from './repository.ts'

const PAYMENTS_PER_RUN = 100

type Deps = {
  db: Database
  log: Log
  emit: Emit
  providers: Pick<PaymentProviderRegistry, 'get'>
  /** Enqueues a job that sends the operation after the commit. */
  wake: (tx: Transaction, operationId: string) => void
  /** Whether expiring authorizations are captured, or only reported. */
  capturesExpiring: boolean
}

/** Handles authorizations that expire within a day, each payment once. */
export function createAuthorizationExpiryWatch({ db, log, emit, providers, wake, capturesExpiring }: Deps) {
  async function handleExpiry(tx: Transaction, payment_id: string, order_id: string): Promise<void> {
    const account = found(await tx.first(lockOrderPaymentAccount, { order_id }), payableOrderNotFoundError)
    const marked = await tx.first(repository.markAuthorizationExpiryReported, { id: payment_id })
    if (marked === undefined || marked.authorized_until === null) return
    const { provider, authorized, authorized_until, is_busy } = marked
    const amount = Math.min(authorized, Math.max(0, account.due - account.captured))
    const canCapture = amount > 0 && (amount === authorized || providers.get(provider).canCapturePart)
    const is_captured = capturesExpiring && !is_busy && account.frozen_at === null && canCapture
    if (is_captured) {
      const id = derivedId(payment_id, 'capture before it runs out')
      const operation = { ids: [id], paymentIds: [payment_id], amounts: [amount] }
      const reason = 'the authorization expires'
      await tx.run(insertPaymentOperations, { ...operation, kind: 'capture', reason, actor: null })
      wake(tx, id)
    }
    const expires_at = authorized_until.toISOString()
    const { currency } = account
    emit(tx, authorizationExpiringEvent, order_id, {
      order_id,
      currency,
      payment_id,
      authorized,
      expires_at,
      is_captured
    })
    tx.afterCommit(() =>
      log.warn({ payment_id, order_id, expires_at, is_captured }, 'an authorization expires within a day')
    )
  }

  /** Logs a failure, so that one payment does not stop the others. The next run handles it again. */
  const tryHandleExpiry = (id: string, order_id: string) =>
    db
      .transaction(tx => handleExpiry(tx, id, order_id))
      .catch(error =>
        log.error({ err: error, payment_id: id }, 'an expiring authorization could not be handled')
      )

  return async (signal: AbortSignal): Promise<void> => {
    const due = await db.rows(repository.listExpiringAuthorizations, { limit: PAYMENTS_PER_RUN })
    for (const { id, order_id } of due) if (!signal.aborted) await tryHandleExpiry(id, order_id)
  }
}
