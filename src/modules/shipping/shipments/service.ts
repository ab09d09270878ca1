import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import { assertOnlyDeletesMetadata, type MetadataRequest } from '../../../kernel/metadata-request.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { changeMetadata } from '../../../platform/postgres/metadata.ts'
import type { CarrierDirectory, ParcelTrackingInput } from '../carriers/directory.ts'
import { normalizeTrackingNumber } from '../carriers/tracking-numbers.ts'
import {
  orderShipmentsNotFoundError,
  shipmentNotFoundError,
  shipmentStaleError,
  trackingNumberNotFoundError
} from '../errors.ts'
import type { ShippingOption } from '../rules/options.ts'
import * as repository from './repository.ts'
import type { AdminShipmentResponse, OrderShipmentsResponse, TrackingResponse } from './schema.ts'
import { adminShipmentView, buyerShipmentView } from './view.ts'

type ShipmentLine = repository.ShipmentLine
/** Lines of an order that are shipped together. */
type OrderGroup = {
  readonly key: string
  /** The unshipped lines. */
  readonly lines: readonly ShipmentLine[]
}
export type NewOrderShipments = {
  readonly orderId: string
  /** Null: a guest. */
  readonly customerId: string | null
  /** Groups of lines, each with the shipping option that the buyer chose. */
  readonly groups: readonly (OrderGroup & {
    readonly option: Pick<ShippingOption, 'id' | 'method' | 'provider' | 'service' | 'estimatedDays'>
  })[]
}
export type ShippedParcel = {
  readonly id: string
  readonly order: {
    readonly id: string
    readonly customer_id: string | null
    readonly token_version: number
  }
  /** Contents, by group. */
  readonly groups: readonly OrderGroup[]
  readonly label: ParcelTrackingInput
}
/** Carrier and tracking number of a parcel, as stored. */
export type ParcelCarrierAndTracking = {
  readonly carrier: string | null
  readonly tracking_number: string | null
}
/** Who accesses shipments: a customer, or a guest with the order's token. */
type ShipmentAccess = { readonly customerId: string } | { readonly token: string | undefined }

type Deps = {
  db: Database
  /** Whether a token gives access to the order. */
  isToken: (token: string, orderId: string, version: number) => boolean
  carriers: () => Promise<CarrierDirectory>
}

export function createShipmentService({ db, isToken, carriers }: Deps) {
  /** Creates the shipments of an order; see `ShippingApi`. Digital groups need no shipment. */
  async function createShipments(
    tx: Transaction,
    { orderId, customerId, groups }: NewOrderShipments
  ): Promise<void> {
    const carried = groups.filter(({ option }) => option.method !== 'digital')
    if (carried.length === 0) return
    const rows = carried.map(({ key, lines, option }) => ({
      id: derivedId(orderId, `shipment:${key}`),
      group_key: key,
      method: option.method,
      option_id: option.id,
      provider: option.provider,
      service: option.service,
      days_min: option.estimatedDays?.min ?? null,
      days_max: option.estimatedDays?.max ?? null,
      lines
    }))
    await tx.run(repository.insertShipments, { order_id: orderId, customer_id: customerId, rows })
  }

  /** Records a shipped parcel. @throws `SHIPPING_NUMBER_INVALID` */
  async function recordShipped(
    tx: Transaction,
    { id, order, groups, label: typed }: ShippedParcel
  ): Promise<ParcelCarrierAndTracking> {
    const { id: order_id, customer_id, token_version } = order
    const label = (await carriers()).labelOf(typed)
    await tx.run(repository.insertShippedParcel, {
      id,
      order_id,
      customer_id,
      token_version,
      ...label,
      groups: groups.map(({ key }) => key),
      lines: groups.flatMap(({ lines }) => lines)
    })
    return label
  }

  /** Replaces carrier and tracking number. @throws `SHIPPING_NUMBER_INVALID` */
  async function updateLabel(
    tx: Transaction,
    id: string,
    typed: ParcelTrackingInput
  ): Promise<ParcelCarrierAndTracking> {
    const label = (await carriers()).labelOf(typed)
    await tx.run(repository.updateShipmentCarrierAndTracking, { id, ...label })
    return label
  }

  /** See `ShippingApi`. */
  async function updateUnshipped(
    tx: Transaction,
    order_id: string,
    groups: readonly OrderGroup[]
  ): Promise<void> {
    await tx.run(repository.replaceLinesOfUnshippedShipments, { order_id, groups })
  }

  /** Assigns the shipments of an order to a customer. */
  async function assignCustomer(tx: Transaction, order_id: string, customer_id: string): Promise<void> {
    await tx.run(repository.assignShipmentsOfOrderToCustomer, { order_id, customer_id })
  }

  /** Erases the personal data in the shipments of these orders. */
  async function erase(tx: Transaction, orderIds: readonly string[]): Promise<void> {
    const order_ids = [...orderIds]
    await tx.run(repository.eraseShipments, { order_ids })
    await tx.run(repository.eraseTrackingEventTexts, { order_ids })
  }

  const owns = (
    caller: ShipmentAccess,
    { order_id, customer_id, token_version }: repository.ShipmentWithEvents
  ) =>
    'customerId' in caller
      ? customer_id === caller.customerId
      : customer_id === null && token_version !== null && isToken(caller.token ?? '', order_id, token_version)

  /** @throws `SHIPPING_SHIPMENTS_NOT_FOUND` */
  async function ofOrder(caller: ShipmentAccess, order_id: string): Promise<OrderShipmentsResponse> {
    const [rows, { urlOf }] = await Promise.all([
      db.rows(repository.listShipmentsOfOrder, { order_id }),
      carriers()
    ])
    const own = rows.filter(row => owns(caller, row))
    if (own.length === 0) throw orderShipmentsNotFoundError()
    return { order_id, items: own.map(row => buyerShipmentView(row, urlOf)) }
  }

  /** @throws `SHIPPING_SHIPMENT_NOT_FOUND` */
  async function read(id: string): Promise<AdminShipmentResponse> {
    const [row, { urlOf }] = await Promise.all([db.first(repository.findShipment, { id }), carriers()])
    return adminShipmentView(found(row, shipmentNotFoundError), urlOf)
  }

  /** @throws `SHIPPING_SHIPMENT_NOT_FOUND`, `SHIPPING_SHIPMENT_STALE`, `METADATA_ERASED`, `METADATA_LIMIT` */
  async function updateMetadata(
    id: string,
    changes: MetadataRequest,
    write: IdempotentWrite
  ): Promise<AdminShipmentResponse> {
    await write.once(db, async tx => {
      const shipment = found(
        await tx.first(repository.lockShipmentForMetadata, { id }),
        shipmentNotFoundError
      )
      write.expect(shipment.version, shipmentStaleError)
      if (shipment.erased_at !== null) assertOnlyDeletesMetadata(changes)
      await changeMetadata(tx, repository.updateShipmentMetadata, { ...changes, id })
    })
    return read(id)
  }

  /** Returns what is public with the tracking number: no data of the buyer. @throws `SHIPPING_TRACKING_NOT_FOUND` */
  async function track(number: string, carrier: string | null): Promise<TrackingResponse> {
    const wanted = { tracking_key: normalizeTrackingNumber(number), carrier }
    const [row, { urlOf }] = await Promise.all([
      db.first(repository.findShipmentByTrackingNumber, wanted),
      carriers()
    ])
    const shipment = buyerShipmentView(found(row, trackingNumberNotFoundError), urlOf)
    return {
      ...shipment,
      tracking_number: found(shipment.tracking_number ?? undefined, trackingNumberNotFoundError)
    }
  }

  return {
    createShipments,
    recordShipped,
    updateLabel,
    updateUnshipped,
    assignCustomer,
    erase,
    ofOrder,
    read,
    updateMetadata,
    track
  }
}
export type ShipmentService = ReturnType<typeof createShipmentService>
