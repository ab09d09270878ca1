import type { PayloadOf } from '../../../kernel/events.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Consumer } from '../../../platform/outbox/handlers.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi, stockLost, stockTaken } from '../../inventory/index.ts'
import type { Cancellations } from '../cancel/service.ts'
import type { Place } from '../changes/place.ts'
import { type Changes, type Hand, SYSTEM } from '../changes/service.ts'
import type { Credits } from '../credits/service.ts'
import { orderEvicted } from '../events.ts'
import type { Fulfilment } from '../fulfilment/service.ts'
import { isLive } from '../life/actions.ts'
import { count, left, type Units } from '../life/counters.ts'
import { isSecured } from '../life/status.ts'
import type { UnpaidStock } from '../unpaid-stock/service.ts'
import { noteCanceledFor } from './repository.ts'
import { type Evictions, hasMoney } from './service.ts'

type Deps = {
  changes: Changes
  cancellations: Pick<Cancellations, 'begin'>
  credits: Pick<Credits, 'units'>
  evictions: Pick<Evictions, 'takeAgain'>
  fulfilment: Pick<Fulfilment, 'deliver'>
  place: Place
  inventory: Pick<InventoryApi, 'forgo'> | undefined
  unpaidStock: Pick<UnpaidStock, 'verify'>
  emit: Emit
}
const EVICTED = { ...SYSTEM, reason: 'a buyer who paid took its units' }
const SHORT = { ...SYSTEM, reason: 'it was paid when nothing was left' }

/** What becomes of orders when one that is paid takes units from others. */
export function createEvictionHearing(deps: Deps) {
  const { changes, cancellations, credits, evictions, fulfilment, inventory, unpaidStock, emit } = deps

  /** The order is placed with what it took, or its money goes back. */
  async function hearTaken(tx: Transaction, event: PayloadOf<typeof stockTaken>): Promise<void> {
    const hand = await changes.take(tx, event.owner)
    if (!isLive(hand.life) || !isSecured(hand.life.paymentStatus)) return
    if (event.is_taken) {
      if (hand.life.state === 'pending') await deps.place(tx, hand, hand.order.terms)
      else await fulfilment.deliver(tx, hand)
    } else if (!(await evictions.takeAgain(tx, event.owner, event.request_id))) {
      await tx.run(noteCanceledFor, { id: event.owner, canceled_for: 'short' })
      await cancellations.begin(tx, hand, SHORT)
    }
  }

  /**
   * An order to be paid later is canceled; that of a verified buyer keeps what it did not lose. An order to be paid by card stays: once
   * it is paid it takes other units.
   */
  async function hearLost(tx: Transaction, { owner, items }: PayloadOf<typeof stockLost>, id: string) {
    const hand = await changes.take(tx, owner)
    if (!isLive(hand.life) || hasMoney(hand.life.paymentStatus) || !hand.order.is_deferred) return
    const units = (await unpaidStock.verify(tx, hand.order)) ? unitsOf(hand, items) : undefined
    const { number, customer_id } = hand.order
    const told = { order_id: owner, number, customer_id }
    if (units === undefined) {
      emit(tx, orderEvicted, owner, { ...told, is_canceled: true })
      await tx.run(noteCanceledFor, { id: owner, canceled_for: 'evicted' })
      await cancellations.begin(tx, hand, EVICTED)
      return
    }
    const parts = items.map(({ item_id: itemId, quantity }) => ({ itemId, quantity }))
    await inventory?.forgo(tx, owner, parts)
    await changes.write(tx, hand, 'cancel_lines', EVICTED, { lines: count(hand.lines, 'cancel', units) })
    await credits.units(tx, hand, units, { id: derivedId(id, 'evicted'), kind: 'cancel', doer: EVICTED })
    emit(tx, orderEvicted, owner, { ...told, is_canceled: false })
  }

  const inTurn =
    <E extends { readonly owner: string }>(
      hear: (tx: Transaction, event: E, id: string) => Promise<void>
    ): Consumer<E> =>
    async (tx, events) => {
      // By the id of their order, so that no two transactions wait for each other.
      for (const { payload, id } of events.toSorted((a, b) => (a.payload.owner < b.payload.owner ? -1 : 1)))
        await hear(tx, payload, id)
    }
  return { 'inventory.taken': inTurn(hearTaken), 'inventory.lost': inTurn(hearLost) }
}

/** The lost items as units of the order's lines; undefined when parts of kits were lost, or nothing is left of the order. */
function unitsOf(
  { lines }: Hand,
  items: readonly { readonly item_id: string; readonly quantity: number }[]
): Units[] | undefined {
  const units: Units[] = []
  for (const { item_id, quantity } of items) {
    let rest = quantity
    for (const line of lines.filter(({ variantId }) => variantId === item_id)) {
      const share = Math.min(rest, left.cancel(line))
      rest -= share
      if (share > 0) units.push({ line: line.line, quantity: share })
    }
    if (rest > 0) return undefined
  }
  const isAll = count(lines, 'cancel', units).every(line => left.cancel(line) + line.fulfilled === 0)
  return isAll ? undefined : units
}
