import { FIRST_ID } from '../../../kernel/ids.ts'
import type { Log } from '../../../platform/log.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { Cancellations } from '../cancel/service.ts'
import { type Changes, SYSTEM } from '../changes/service.ts'
import { isSecured } from '../life/status.ts'
import { laterTermsOf, type Waits, waitOf } from '../placing/terms.ts'
import type { UnpaidStock } from '../unpaid-stock/service.ts'
import * as repository from './repository.ts'

type Deps = {
  db: Database
  log: Pick<Log, 'error'>
  changes: Changes
  cancellations: Pick<Cancellations, 'begin'>
  payments: Pick<PaymentsApi, 'openMethods'> | undefined
  unpaidStock: Pick<UnpaidStock, 'verify'>
  waits: Waits
}

const BATCH = 100
const EXPIRED = { ...SYSTEM, reason: 'it was not paid in time' }

/** Orders that nobody has paid are canceled in the same two phases as any other. */
export function createExpiry({ db, log, changes, cancellations, payments, unpaidStock, waits }: Deps) {
  async function expire(tx: Transaction, id: string): Promise<void> {
    const hand = await changes.take(tx, id)
    if (hand.life.state !== 'pending' || hand.life.isCancelRequested) return
    // It is paid, and waits for its stock.
    if (isSecured(hand.life.paymentStatus)) return
    const methods = (await payments?.openMethods(tx, id)) ?? []
    // It is placed as soon as that payment is begun.
    if (laterTermsOf(methods) !== undefined) return
    const isVerified = await unpaidStock.verify(tx, hand.order)
    const seconds = waitOf(methods, waits, { isVerified, isDeferred: hand.order.is_deferred })
    const expiry = await tx.first(repository.updateExpiry, { id, seconds })
    if (expiry?.is_over) await cancellations.begin(tx, hand, EXPIRED)
  }

  /** One that cannot be canceled holds up no other. */
  const expireSurely = (id: string) =>
    db
      .transaction(tx => expire(tx, id))
      .catch(error =>
        log.error({ err: error, order: id }, 'an order that was not paid could not be canceled')
      )

  return async (signal: AbortSignal): Promise<void> => {
    let after: string | undefined = FIRST_ID
    while (after !== undefined && !signal.aborted) {
      const due: { id: string }[] = await db.rows(repository.listExpiring, {
        seconds: waits.usual,
        after,
        limit: BATCH
      })
      for (const { id } of due) if (!signal.aborted) await expireSurely(id)
      after = due.at(-1)?.id
    }
  }
}
