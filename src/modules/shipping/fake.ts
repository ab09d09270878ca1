import { derivedId } from '../../kernel/ids.ts'
import type { Transaction } from '../../platform/postgres/database.ts'
import { trackingEventNotFoundError } from './errors.ts'
import type { ShippingApi } from './index.ts'

type ShippedParcel = Parameters<ShippingApi['recordShipped']>[1]
type FakeShipment = {
  readonly id: string
  readonly orderId: string
  customerId: string | null
  isErased: boolean
  isVoided: boolean
  /** Null: not shipped yet. */
  label: ShippedParcel['label'] | null
  lines: readonly { readonly line: number; readonly quantity: number }[]
  readonly group: string
}

/** In-memory implementation of `ShippingApi` for tests of other modules. It has no zones and no rates. */
export type FakeShipping = ShippingApi & {
  /** The shipments of an order that this customer sees. Null: a guest with the token. */
  listVisibleTo(customerId: string | null, orderId: string): readonly FakeShipment[]
}

/**
 * Creates shipping in memory.
 * @example
 * const shipping = fakeShipping()
 * assert.deepEqual(shipping.listVisibleTo(customerId, newId()), [])
 */
export function fakeShipping(): FakeShipping {
  let shipments: FakeShipment[] = []
  const of = (orderId: string) => shipments.filter(each => each.orderId === orderId)
  const afterCommit = (tx: Transaction, work: () => void) => tx.afterCommit(work)
  const storedLabel = ({ carrier, tracking_number }: ShippedParcel['label']) => ({ carrier, tracking_number })
  return {
    loadRateCalculator: async () => () => [],
    providerOptionFetcher: () => undefined,
    listRegions: async () => new Map(),
    createInitialRules: async () => false,
    updateMetadata: () => Promise.reject(new Error('a shipping in memory has no metadata')),
    createShipments: async (tx, { orderId, customerId, groups }) =>
      afterCommit(tx, () => {
        for (const { key, lines, option } of groups) {
          const id = derivedId(orderId, `shipment:${key}`)
          if (option.method === 'digital' || shipments.some(each => each.id === id)) continue
          const waiting = { id, orderId, customerId, group: key, lines, label: null }
          shipments.push({ ...waiting, isErased: false, isVoided: false })
        }
      }),
    recordShipped: async (tx, { id, order, groups, label }) => {
      afterCommit(tx, () =>
        shipments.push({
          id,
          orderId: order.id,
          customerId: order.customer_id,
          group: groups[0]?.key ?? '',
          label,
          isErased: false,
          isVoided: false,
          lines: groups.flatMap(({ lines }) => lines)
        })
      )
      return storedLabel(label)
    },
    updateLabel: async (tx, id, label) => {
      afterCommit(tx, () => {
        const shipment = shipments.find(each => each.id === id)
        if (shipment !== undefined) shipment.label = label
      })
      return storedLabel(label)
    },
    // The parcels of the fake have no tracking events.
    findReported: async () => new Set(),
    voidEvent: async () => {
      throw trackingEventNotFoundError()
    },
    voidParcel: async (tx, { shipmentId }) =>
      afterCommit(tx, () => {
        const parcel = shipments.find(each => each.id === shipmentId)
        if (parcel !== undefined) parcel.isVoided = true
      }),
    updateUnshipped: async (tx, orderId, groups) =>
      afterCommit(tx, () => {
        const unshipped = new Map(groups.map(({ key, lines }) => [key, lines]))
        const hasNoneLeft = ({ label, group }: FakeShipment) => label === null && !unshipped.has(group)
        for (const each of of(orderId)) if (each.label === null) each.lines = unshipped.get(each.group) ?? []
        shipments = shipments.filter(each => each.orderId !== orderId || !hasNoneLeft(each))
      }),
    assignCustomer: async (tx, orderId, customerId) =>
      afterCommit(tx, () => {
        for (const each of of(orderId)) each.customerId = customerId
      }),
    erase: async (tx, orderIds) =>
      afterCommit(tx, () => {
        for (const each of orderIds.flatMap(of)) Object.assign(each, { customerId: null, isErased: true })
      }),
    listVisibleTo: (customerId, orderId) =>
      of(orderId).filter(each => !each.isErased && each.customerId === customerId)
  }
}
