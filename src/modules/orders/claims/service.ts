import { found } from '../../../kernel/errors.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import type { Changes, Hand } from '../changes/service.ts'
import { orderNotFound, orderStale } from '../errors.ts'
import { orderClaimed } from '../events.ts'
import type { Claim } from '../guest/service.ts'
import type { OrderTokens } from '../guest-orders/service.ts'
import type { OrderResponse } from '../orders/schema.ts'
import type { OrderService } from '../orders/service.ts'
import * as repository from './repository.ts'

type Deps = {
  db: Database
  changes: Changes
  emit: Emit
  orders: Pick<OrderService, 'read'>
  tokens: Pick<OrderTokens, 'isOf'>
  payments: Pick<PaymentsApi, 'reissue'> | undefined
  shipping: Pick<ShippingApi, 'handOver'> | undefined
}
type Owned = { readonly id: string; readonly customer_id: string | null; readonly token_version: number }

/** Orders of guests join the account of whoever shows their token, and never by an e-mail address. */
export function createClaims({ db, changes, emit, orders, tokens, payments, shipping }: Deps) {
  /** Whether it is a guest's whose token this is; not: it is the caller's own already. @throws `ORDER_NOT_FOUND` */
  function isToJoin({ id, customer_id, token_version }: Owned, customerId: string, token: string): boolean {
    if (customer_id === customerId) return false
    if (customer_id !== null || !tokens.isOf(token, id, token_version)) throw orderNotFound()
    return true
  }

  /** All that is known of it follows, and the token proves nothing any more. */
  async function handOver(tx: Transaction, hand: Hand, customer_id: string): Promise<void> {
    const { id, number, payment_status, token_version } = hand.order
    await changes.write(tx, hand, 'claim', { role: 'guest', actor: customer_id, reason: null })
    const hasAccount = payments !== undefined && payment_status !== null
    const next = hasAccount ? await payments.reissue(tx, id, customer_id) : token_version + 1
    await tx.run(repository.handOver, { id, customer_id, token_version: next })
    await shipping?.handOver(tx, id, customer_id)
    emit(tx, orderClaimed, id, { order_id: id, number, customer_id })
  }

  /** Whoever claims what is theirs already is told it. @throws `ORDER_NOT_FOUND`, `ORDER_STALE` */
  async function claim(customerId: string, { id, token = '' }: Claim, write: Write): Promise<OrderResponse> {
    // Who has no right to it holds up nobody who has.
    isToJoin(found(await db.first(repository.findOwner, { id }), orderNotFound), customerId, token)
    await write.once(db, async tx => {
      const hand = await changes.take(tx, id)
      const joins = isToJoin(hand.order, customerId, token)
      write.expect(hand.order.version, orderStale)
      if (joins) await handOver(tx, hand, customerId)
    })
    return orders.read(customerId, id)
  }

  return { claim }
}
export type Claims = ReturnType<typeof createClaims>
