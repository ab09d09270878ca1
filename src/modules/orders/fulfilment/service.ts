import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { PaymentsApi } from '../../payments/index.ts'
import type { ShippingApi } from '../../shipping/index.ts'
import { type Changes, type Doer, type Hand, SYSTEM } from '../changes/service.ts'
import { actionRefused, orderStale, shipmentNotFound } from '../errors.ts'
import { orderShipmentVoided, orderShipped } from '../events.ts'
import { count, left, quantityOf, type Units } from '../life/counters.ts'
import { deliverable } from '../life/digital.ts'
import { refusalOfUnsent, unsent } from '../life/unsent.ts'
import * as repository from './repository.ts'
import { stockLinesOf } from './stock.ts'

type Deps = {
  db: Database
  changes: Changes
  emit: Emit
  inventory: Pick<InventoryApi, 'confirm' | 'post'> | undefined
  payments: Pick<PaymentsApi, 'capture' | 'lock' | 'proceed'> | undefined
  shipping: Pick<ShippingApi, 'open' | 'relabel' | 'send' | 'voidEvent' | 'voidParcel'> | undefined
}
type Label = {
  readonly carrier?: string | null | undefined
  readonly tracking_number?: string | null | undefined
  /** The number is taken as it is, whatever its carrier says of it. */
  readonly unchecked?: boolean | undefined
}
export type Parcel = Label & {
  /** All that is left, when they are left out. */
  readonly lines?: readonly Units[] | undefined
}

/** Why what was told of a parcel stays: so much was done since. */
const BUILT_ON = { return: 'returned', refund: 'refunded' } as const

/** What leaves, and what comes back. */
export function createFulfilment({ db, changes, emit, inventory, payments, shipping }: Deps) {
  /** Money that is held is taken with the first parcel: providers let go of what is left of it then. */
  async function capture(tx: Transaction, { order }: Hand, id: string, { actor }: Doer): Promise<void> {
    const account = await payments?.lock(tx, order.id)
    const amountMinor =
      account === undefined ? 0 : Math.min(account.authorized, account.due - account.captured)
    if (amountMinor > 0) await payments?.capture(tx, order.id, { id, amountMinor, actor })
  }

  /** These units leave: with the commit they are no stock any more. Answers the order as it is then. */
  async function send(
    tx: Transaction,
    hand: Hand,
    units: readonly Units[],
    { id, doer, ...label }: Label & { id: string; doer: Doer }
  ): Promise<Hand> {
    const { carrier = null, tracking_number = null, unchecked = false } = label
    const typed = { carrier, tracking_number, unchecked }
    const { id: order_id, number, customer_id } = hand.order
    const lines = count(hand.lines, 'fulfil', units)
    const groups = carriedIn(hand, units)
    const parcel = { id, order: hand.order, groups, label: typed }
    const kept = groups.length === 0 ? typed : ((await shipping?.send(tx, parcel)) ?? typed)
    const sent = await changes.write(tx, hand, 'fulfil', doer, { lines })
    await tx.run(repository.insertShipment, {
      ...{ id, order_id, carrier: kept.carrier, tracking_number: kept.tracking_number },
      ...{ lines: units, actor: doer.actor }
    })
    // What is sent is not taken by an order that is paid.
    await inventory?.confirm(tx, order_id)
    await inventory?.post(tx, { id, kind: 'ship', owner: order_id, lines: stockLinesOf(hand, units) })
    emit(tx, orderShipped, order_id, { order_id, number, customer_id, shipment_id: id })
    return sent
  }

  /** What was in a parcel that never left waits to be sent again, in the way that was chosen for it. */
  async function openAgain(tx: Transaction, hand: Hand, units: readonly Units[]): Promise<void> {
    const { id: orderId, customer_id: customerId } = hand.order
    const chosen = await tx.rows(repository.listGroups, { order_id: orderId })
    const groups = carriedIn(hand, units).flatMap(({ key, lines }) =>
      chosen
        .filter(({ group_key }) => group_key === key)
        .flatMap(({ method, option }) => {
          if (option === null) return []
          const { estimated_days: estimatedDays, ...rest } = option
          return [{ key, lines, option: { ...rest, method, estimatedDays } }]
        })
    )
    await shipping?.open(tx, { orderId, customerId, groups })
  }

  return {
    /** What needs no carrier leaves by itself, if it is time. Answers the order as it is then. */
    deliver: async (tx: Transaction, hand: Hand): Promise<Hand> => {
      const units = deliverable(hand.life, hand.order.terms)
      const id = derivedId(hand.order.id, 'delivered')
      return units.length === 0 ? hand : send(tx, hand, units, { id, doer: SYSTEM })
    },

    /** @throws `ORDER_NOT_FOUND`, `ORDER_STALE`, `ORDER_ACTION_REFUSED`, `ORDER_LINE_UNKNOWN`, `ORDER_UNITS_SHORT` */
    ship: async (order_id: string, parcel: Parcel, doer: Doer, write: Write): Promise<void> => {
      await write.once(db, async tx => {
        const hand = await changes.take(tx, order_id)
        write.expect(hand.order.version, orderStale)
        changes.judge(hand, 'fulfil', doer)
        const rest = hand.lines.map(line => ({ line: line.line, quantity: left.fulfil(line) }))
        const { lines: units = rest.filter(({ quantity }) => quantity > 0), ...label } = parcel
        await send(tx, hand, units, { id: write.id, doer, ...label })
        await capture(tx, hand, write.id, doer)
      })
      await payments?.proceed(order_id)
    },

    /** Something else stands on a parcel. @throws as `ship`; `ORDER_SHIPMENT_NOT_FOUND`, `SHIPPING_NUMBER_INVALID` */
    relabel: async (
      { id: order_id, shipment_id: id }: { id: string; shipment_id: string },
      { unchecked = false, ...given }: Label,
      doer: Doer,
      write: Write
    ): Promise<void> => {
      await write.once(db, async tx => {
        const hand = await changes.take(tx, order_id)
        write.expect(hand.order.version, orderStale)
        changes.judge(hand, 'relabel', doer)
        const stored = found(await tx.first(repository.findShipment, { id, order_id }), shipmentNotFound)
        if (stored.voided_at !== null)
          throw actionRefused({ details: { action: 'relabel', reason: 'voided' } })
        const { carrier: before, tracking_number: number } = stored
        const typed = { carrier: before, tracking_number: number, ...definedOf(given), unchecked }
        const { carrier, tracking_number } = (await shipping?.relabel(tx, id, typed)) ?? typed
        await tx.run(repository.updateLabel, { id, carrier, tracking_number, actor: doer.actor })
        await changes.write(tx, hand, 'relabel', doer)
      })
    },

    /**
     * It was said by mistake that a parcel had left: what is in it is to be sent, and reserved, as before. Money that was taken with it
     * stays. Said once more, nothing is left to be done.
     * @throws as `ship`; `ORDER_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_LEFT`
     */
    voidShipment: async (
      { id: order_id, shipment_id: id }: { id: string; shipment_id: string },
      reason: string,
      doer: Doer,
      write: Write
    ): Promise<void> => {
      await write.once(db, async tx => {
        const hand = await changes.take(tx, order_id)
        write.expect(hand.order.version, orderStale)
        const parcel = found(await tx.first(repository.findShipment, { id, order_id }), shipmentNotFound)
        if (parcel.voided_at !== null) return
        changes.judge(hand, 'void_shipment', doer)
        const refusal = refusalOfUnsent(hand.lines, parcel.lines)
        if (refusal !== undefined)
          throw actionRefused({ details: { action: 'void_shipment', reason: refusal } })
        const { actor } = doer
        await shipping?.voidParcel(tx, { shipmentId: id, actor, reason })
        await openAgain(tx, hand, parcel.lines)
        await changes.write(tx, hand, 'void_shipment', doer, { lines: unsent(hand.lines, parcel.lines) })
        await tx.run(repository.voidShipment, { id, actor, reason })
        await inventory?.post(tx, {
          id: derivedId(id, 'void'),
          kind: 'unship',
          owner: order_id,
          shipment: id
        })
        const { number, customer_id } = hand.order
        emit(tx, orderShipmentVoided, order_id, { order_id, number, customer_id, shipment_id: id })
      })
    },

    /**
     * What was told of a parcel was wrong. Where that had completed the order by itself, it is looked after again.
     * @throws as `ship`; `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_EVENT_NOT_FOUND`
     */
    voidEvent: async (
      { id: order_id, shipment_id, event_id }: { id: string; shipment_id: string; event_id: string },
      reason: string,
      doer: Doer,
      write: Write
    ): Promise<void> => {
      await write.once(db, async tx => {
        const hand = await changes.take(tx, order_id)
        write.expect(hand.order.version, orderStale)
        changes.judge(hand, 'void_event', doer)
        if (shipping === undefined) throw shipmentNotFound()
        const wrong = {
          orderId: order_id,
          shipmentId: shipment_id,
          eventId: event_id,
          actor: doer.actor,
          reason
        }
        const correction = await shipping.voidEvent(tx, wrong)
        if (correction === undefined) return
        const { before, since, after } = correction
        const consequences =
          before === after ? undefined : await tx.first(repository.findConsequences, { order_id, since })
        const builtOn = consequences?.built_on ?? null
        if (builtOn !== null)
          throw actionRefused({ details: { action: 'void_event', reason: BUILT_ON[builtOn] } })
        const noted = await changes.write(tx, hand, 'void_event', doer)
        if (noted.life.state === 'completed' && after === 'in_transit' && consequences?.completed_alone)
          await changes.write(tx, noted, 'reopen', doer)
      })
    },

    /** `restock`: whether it can be sold again. @throws as `ship` */
    takeBack: async (
      order_id: string,
      { lines: units, restock }: { lines: readonly Units[]; restock: boolean },
      doer: Doer,
      write: Write
    ): Promise<void> => {
      await write.once(db, async tx => {
        const hand = await changes.take(tx, order_id)
        write.expect(hand.order.version, orderStale)
        changes.judge(hand, 'return', doer)
        await changes.write(tx, hand, 'return', doer, { lines: count(hand.lines, 'return', units) })
        if (!restock) return
        const lines = stockLinesOf(hand, units)
        await inventory?.post(tx, { id: write.id, kind: 'return', owner: order_id, lines })
      })
    }
  }
}
export type Fulfilment = ReturnType<typeof createFulfilment>

const definedOf = ({ carrier, tracking_number }: Label) => ({
  ...(carrier !== undefined && { carrier }),
  ...(tracking_number !== undefined && { tracking_number })
})

/** What of these units is carried to somebody, by group. */
function carriedIn({ lines }: Hand, units: readonly Units[]) {
  const carried = lines
    .filter(({ requiresShipping }) => requiresShipping)
    .map(line => ({ group: line.group, line: line.line, quantity: quantityOf(units, line) }))
    .filter(({ quantity }) => quantity > 0)
  return [...Map.groupBy(carried, ({ group }) => group)].map(([key, of]) => ({
    key,
    lines: of.map(({ line, quantity }) => ({ line, quantity }))
  }))
}
