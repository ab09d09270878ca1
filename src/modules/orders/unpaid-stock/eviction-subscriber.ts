import type { PayloadOf } from '../../../kernel/events.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { EventHandler } from '../../../platform/outbox/handlers.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi, stockLostEvent, stockTakenEvent } from '../../inventory/index.ts'
import type { OrderAdjustmentService } from '../adjustments/service.ts'
import type { CancellationService } from '../cancellation/service.ts'
import { orderEvictedEvent } from '../events.ts'
import type { PlacePendingOrder } from '../fulfilment/place-pending-order.ts'
import type { FulfilmentService } from '../fulfilment/service.ts'
import { isActiveOrder } from '../lifecycle/actions.ts'
import {
  addToOrderLineCounters,
  type OrderLineQuantity,
  remainingOrderLineUnitsByAction
} from '../lifecycle/counters.ts'
import {
  eventSubjectOfLockedOrder,
  type OrderUnderLock,
  updateLockedOrder
} from '../lifecycle/locked-order.ts'
import { type OrderActor, type OrderTransitions, SYSTEM_ACTOR } from '../lifecycle/service.ts'
import { isPaymentSecured } from '../lifecycle/status.ts'
import type { OrderRefunds } from '../refunds/service.ts'
import { recordCancellationCause } from './eviction-repository.ts'
import { hasAnyOrderPayment, type StockEvictionService } from './eviction-service.ts'
import type { UnpaidStockLimiter } from './service.ts'

type Deps = {
  changes: OrderTransitions
  cancellations: Pick<CancellationService, 'begin'>
  adjustments: Pick<OrderAdjustmentService, 'readCreditBalance'>
  refunds: Pick<OrderRefunds, 'creditUnits'>
  evictions: Pick<StockEvictionService, 'takeAgain'>
  fulfilment: Pick<FulfilmentService, 'deliverDigital'>
  placePendingOrder: PlacePendingOrder
  inventory: Pick<InventoryApi, 'forgo'> | undefined
  unpaidStock: Pick<UnpaidStockLimiter, 'verify'>
  emit: Emit
}
const EVICTED = { ...SYSTEM_ACTOR, reason: 'a buyer who paid took its units' }
const SHORT = { ...SYSTEM_ACTOR, reason: 'it was paid when nothing was left' }

/** Handles the events of stock that a paid order takes from unpaid ones. */
export function createUnpaidOrderEvictionSubscriber(deps: Deps) {
  const {
    changes,
    cancellations,
    adjustments,
    refunds,
    evictions,
    fulfilment,
    inventory,
    unpaidStock,
    emit
  } = deps

  /** Places the order with the units that it took, or cancels and refunds it. */
  async function handleTaken(tx: Transaction, event: PayloadOf<typeof stockTakenEvent>): Promise<void> {
    const locked = await changes.lock(tx, event.owner)
    if (!isActiveOrder(locked.lifecycle) || !isPaymentSecured(locked.lifecycle.paymentStatus)) return
    if (event.is_taken) {
      if (locked.lifecycle.state === 'pending') await deps.placePendingOrder(tx, locked, locked.order.terms)
      else await fulfilment.deliverDigital(tx, locked)
    } else if (!(await evictions.takeAgain(tx, event.owner, event.request_id))) {
      await cancelFor(tx, locked, 'short', SHORT)
    }
  }

  async function cancelFor(
    tx: Transaction,
    locked: OrderUnderLock,
    canceled_for: 'short' | 'evicted',
    actor: OrderActor
  ): Promise<void> {
    const recorded = await updateLockedOrder(tx, locked, recordCancellationCause, { canceled_for })
    await cancellations.begin(tx, recorded, actor)
  }

  /**
   * Cancels an order with a deferred payment. The order of a verified buyer keeps its other units. A card
   * order stays, because it takes other units once it is paid.
   */
  async function handleLost(tx: Transaction, { owner, items }: PayloadOf<typeof stockLostEvent>, id: string) {
    const found = await changes.lock(tx, owner)
    if (
      !isActiveOrder(found.lifecycle) ||
      hasAnyOrderPayment(found.lifecycle.paymentStatus) ||
      !found.order.is_deferred
    )
      return
    // The order was shipped before it lost the units.
    if (found.lines.every(line => remainingOrderLineUnitsByAction.cancel(line) === 0)) return
    const locked = await unpaidStock.verify(tx, found)
    const units = locked.order.is_buyer_verified ? unitsOf(locked, items) : undefined
    const { number, customer_id } = locked.order
    const payload = { order_id: owner, number, customer_id }
    if (units === undefined) {
      emit(tx, orderEvictedEvent, eventSubjectOfLockedOrder(tx, owner), { ...payload, is_canceled: true })
      return cancelFor(tx, locked, 'evicted', EVICTED)
    }
    const parts = items.map(({ item_id: itemId, quantity }) => ({ itemId, quantity }))
    await inventory?.forgo(tx, owner, parts)
    const balance = await adjustments.readCreditBalance(tx, locked)
    const counted = await changes.transition(tx, locked, 'cancel_lines', EVICTED, {
      lines: addToOrderLineCounters(locked.lines, 'cancel', units)
    })
    await refunds.creditUnits(tx, counted, balance, units, {
      id: derivedId(id, 'evicted'),
      kind: 'cancel',
      actor: EVICTED
    })
    emit(tx, orderEvictedEvent, eventSubjectOfLockedOrder(tx, owner), { ...payload, is_canceled: false })
  }

  const handleEach =
    <E extends { readonly owner: string }>(
      handle: (tx: Transaction, event: E, id: string) => Promise<void>
    ): EventHandler<E> =>
    async (tx, events) => {
      // Sorted by order id, so that two transactions never deadlock.
      for (const { payload, id } of events.toSorted((a, b) => (a.payload.owner < b.payload.owner ? -1 : 1)))
        await handle(tx, payload, id)
    }
  return { 'inventory.taken': handleEach(handleTaken), 'inventory.lost': handleEach(handleLost) }
}

/**
 * The lost items as units of the order's lines; undefined when parts of kits were lost, or nothing is left of
 * the order.
 */
function unitsOf(
  { lines }: OrderUnderLock,
  items: readonly { readonly item_id: string; readonly quantity: number }[]
): OrderLineQuantity[] | undefined {
  const units: OrderLineQuantity[] = []
  for (const { item_id, quantity } of items) {
    let rest = quantity
    for (const line of lines.filter(({ variantId }) => variantId === item_id)) {
      const share = Math.min(rest, remainingOrderLineUnitsByAction.cancel(line))
      rest -= share
      if (share > 0) units.push({ line: line.line, quantity: share })
    }
    if (rest > 0) return undefined
  }
  const isAll = addToOrderLineCounters(lines, 'cancel', units).every(
    line => remainingOrderLineUnitsByAction.cancel(line) + line.fulfilled === 0
  )
  return isAll ? undefined : units
}
