import { derivedId } from '../../kernel/ids.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import { eventNotFound } from './errors.ts'
import type { ShippingApi } from './index.ts'

type Sent = Parameters<ShippingApi['send']>[1]
type FakeShipment = {
  readonly id: string
  readonly orderId: string
  customerId: string | null
  isForgotten: boolean
  /** It never left. */
  isVoided: boolean
  /** Null: it is still to be sent. */
  label: Sent['label'] | null
  lines: readonly { readonly line: number; readonly quantity: number }[]
  readonly group: string
}

/** Shipping in memory that keeps the contract of `ShippingApi` about orders, for tests of those who ask it; it sends nowhere. */
export type FakeShipping = ShippingApi & {
  /** What this customer, or with null whoever has a guest's token, sees of an order. */
  seenBy(customerId: string | null, orderId: string): readonly FakeShipment[]
}

export function fakeShipping(): FakeShipping {
  let shipments: FakeShipment[] = []
  const of = (orderId: string) => shipments.filter(each => each.orderId === orderId)
  const after = (tx: Transaction, work: () => void) => tx.afterCommit(work)
  const kept = ({ carrier, tracking_number }: Sent['label']) => ({ carrier, tracking_number })
  return {
    rates: async () => () => [],
    regions: async () => new Map(),
    createFirst: async () => false,
    askOrders: () => {},
    open: async (tx, { orderId, customerId, groups }) =>
      after(tx, () => {
        for (const { key, lines, option } of groups) {
          const id = derivedId(orderId, `shipment:${key}`)
          if (option.method === 'digital' || shipments.some(each => each.id === id)) continue
          const waiting = { id, orderId, customerId, group: key, lines, label: null }
          shipments.push({ ...waiting, isForgotten: false, isVoided: false })
        }
      }),
    send: async (tx, { id, order, groups, label }) => {
      after(tx, () =>
        shipments.push({
          ...{ id, orderId: order.id, customerId: order.customer_id, group: groups[0]?.key ?? '', label },
          ...{ isForgotten: false, isVoided: false, lines: groups.flatMap(({ lines }) => lines) }
        })
      )
      return kept(label)
    },
    relabel: async (tx, id, label) => {
      after(tx, () => {
        const shipment = shipments.find(each => each.id === id)
        if (shipment !== undefined) shipment.label = label
      })
      return kept(label)
    },
    // Nothing is told of its parcels.
    told: async () => new Set(),
    voidEvent: async () => {
      throw eventNotFound()
    },
    voidParcel: async (tx, { shipmentId }) =>
      after(tx, () => {
        const parcel = shipments.find(each => each.id === shipmentId)
        if (parcel !== undefined) parcel.isVoided = true
      }),
    remain: async (tx, orderId, groups) =>
      after(tx, () => {
        const rest = new Map(groups.map(({ key, lines }) => [key, lines]))
        const isGone = ({ label, group }: FakeShipment) => label === null && !rest.has(group)
        for (const each of of(orderId)) if (each.label === null) each.lines = rest.get(each.group) ?? []
        shipments = shipments.filter(each => each.orderId !== orderId || !isGone(each))
      }),
    handOver: async (tx, orderId, customerId) =>
      after(tx, () => {
        for (const each of of(orderId)) each.customerId = customerId
      }),
    forget: async (tx, orderIds) =>
      after(tx, () => {
        for (const each of orderIds.flatMap(of)) Object.assign(each, { customerId: null, isForgotten: true })
      }),
    seenBy: (customerId, orderId) =>
      of(orderId).filter(each => !each.isForgotten && each.customerId === customerId)
  }
}
