import { derivedId } from '../../../kernel/ids.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { shipmentsNotFound } from '../errors.ts'
import type { ShippingOption } from '../rates/options.ts'
import * as repository from './repository.ts'
import type { ShipmentsResponse } from './schema.ts'

/** What of an order comes together, and how that was chosen to come. */
type OrderGroup = {
  readonly key: string
  readonly option: Pick<ShippingOption, 'id' | 'method' | 'provider' | 'service' | 'estimatedDays'>
}
export type NewShipments = {
  readonly orderId: string
  /** Null: a guest's. */
  readonly customerId: string | null
  readonly groups: readonly OrderGroup[]
}

export function createShipmentService(db: Database) {
  /** Something has to be sent, or picked up, for an order; what comes digitally needs no shipment. */
  async function open(tx: Transaction, { orderId, customerId, groups }: NewShipments): Promise<void> {
    const carried = groups.filter(({ option }) => option.method !== 'digital')
    if (carried.length === 0) return
    const rows = carried.map(({ key, option }) => ({
      id: derivedId(orderId, `shipment:${key}`),
      group_key: key,
      method: option.method,
      option_id: option.id,
      provider: option.provider,
      service: option.service,
      days_min: option.estimatedDays?.min ?? null,
      days_max: option.estimatedDays?.max ?? null
    }))
    await tx.run(repository.insertShipments, { order_id: orderId, customer_id: customerId, rows })
  }

  /** They are a customer's from now on. */
  async function handOver(tx: Transaction, order_id: string, customer_id: string): Promise<void> {
    await tx.run(repository.handOver, { order_id, customer_id })
  }

  /** Nothing says any more whose they were. */
  async function forget(tx: Transaction, orderIds: readonly string[]): Promise<void> {
    await tx.run(repository.eraseShipments, { order_ids: [...orderIds] })
  }

  /** @throws `SHIPPING_SHIPMENTS_NOT_FOUND` */
  async function ofOrder(customerId: string, orderId: string): Promise<ShipmentsResponse> {
    const given = { order_id: orderId, customer_id: customerId }
    const items = await db.rows(repository.listShipmentsOfOrder, given)
    if (items.length === 0) throw shipmentsNotFound()
    return { order_id: orderId, items }
  }

  return { open, handOver, forget, ofOrder }
}
export type ShipmentService = ReturnType<typeof createShipmentService>
