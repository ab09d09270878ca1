import { found } from '../../../kernel/errors.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import type { CustomerBuyer } from '../buyers/buyer.ts'
import { orderNotFoundError, orderStaleError } from '../errors.ts'
import { orderClaimedEvent } from '../events.ts'
import {
  eventSubjectOfLockedOrder,
  type OrderUnderLock,
  updateLockedOrder
} from '../lifecycle/locked-order.ts'
import type { OrderTransitions } from '../lifecycle/service.ts'
import * as repository from './repository.ts'
import type { OrderResponse } from './schema.ts'
import type { OrderService, OrderTokens } from './service.ts'

type Deps = {
  db: Database
  changes: OrderTransitions
  emit: Emit
  orders: Pick<OrderService, 'read'>
  tokens: Pick<OrderTokens, 'verify'>
  shipping: Pick<ShippingApi, 'assignCustomer'> | undefined
}
type Owned = { readonly id: string; readonly customer_id: string | null; readonly token_version: number }

/**
 * Moves guest orders to the account of a customer who has the order token. A matching email address proves
 * nothing.
 */
export function createOrderClaimService({ db, changes, emit, orders, tokens, shipping }: Deps) {
  /**
   * Returns false if the customer owns the order already, true if the token proves access. @throws
   * `ORDER_NOT_FOUND`
   */
  function canClaim({ id, customer_id, token_version }: Owned, customerId: string, token: string): boolean {
    if (customer_id === customerId) return false
    if (customer_id !== null || !tokens.verify(token, id, token_version)) throw orderNotFoundError()
    return true
  }

  /** Moves the order with its payments and shipments, and invalidates the order token. */
  async function handOver(tx: Transaction, locked: OrderUnderLock, customer_id: string): Promise<void> {
    const { id, number, token_version } = locked.order
    const claimed = await changes.transition(tx, locked, 'claim', {
      role: 'guest',
      id: customer_id,
      reason: null
    })
    const next = (await locked.account?.reissueOrderToken(customer_id)) ?? token_version + 1
    await updateLockedOrder(tx, claimed, repository.assignOrderToCustomer, {
      customer_id,
      token_version: next
    })
    await shipping?.assignCustomer(tx, id, customer_id)
    emit(tx, orderClaimedEvent, eventSubjectOfLockedOrder(tx, id), { order_id: id, number, customer_id })
  }

  /** Returns the order unchanged if the customer owns it already. @throws `ORDER_NOT_FOUND`, `ORDER_STALE` */
  async function claim(
    buyer: CustomerBuyer,
    { id, token = '' }: { readonly id: string; readonly token: string | undefined },
    write: IdempotentWrite
  ): Promise<OrderResponse> {
    const { customerId } = buyer
    // The token is checked without a lock first, so that a caller without access cannot delay the owner.
    canClaim(found(await db.first(repository.findOrderOwner, { id }), orderNotFoundError), customerId, token)
    await write.once(db, async tx => {
      const locked = await changes.lock(tx, id)
      const isClaimed = canClaim(locked.order, customerId, token)
      write.expect(locked.order.version, orderStaleError)
      if (isClaimed) await handOver(tx, locked, customerId)
    })
    return orders.read(buyer, id)
  }

  return { claim }
}
export type OrderClaimService = ReturnType<typeof createOrderClaimService>
