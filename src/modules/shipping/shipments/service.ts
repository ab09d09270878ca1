import { found } from '../../../kernel/errors.ts'
import { derivedId } from '../../../kernel/ids.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Directory, Typed } from '../carriers/directory.ts'
import { keyOf } from '../carriers/numbers.ts'
import { shipmentNotFound, shipmentsNotFound, trackingNotFound } from '../errors.ts'
import type { ShippingOption } from '../rates/options.ts'
import * as repository from './repository.ts'
import type { AdminShipmentResponse, ShipmentsResponse, TrackResponse } from './schema.ts'
import { adminViewOf, viewOf } from './view.ts'

type Units = repository.Units
/** What of an order comes together. */
type OrderGroup = {
  readonly key: string
  /** What is still to be sent of it. */
  readonly lines: readonly Units[]
}
export type NewShipments = {
  readonly orderId: string
  /** Null: a guest's. */
  readonly customerId: string | null
  /** With how each was chosen to come. */
  readonly groups: readonly (OrderGroup & {
    readonly option: Pick<ShippingOption, 'id' | 'method' | 'provider' | 'service' | 'estimatedDays'>
  })[]
}
export type Parcel = {
  readonly id: string
  readonly order: {
    readonly id: string
    readonly customer_id: string | null
    readonly token_version: number
  }
  /** What is in it, by group. */
  readonly groups: readonly OrderGroup[]
  readonly label: Typed
}
/** What stands on a parcel, as it is kept. */
export type Label = { readonly carrier: string | null; readonly tracking_number: string | null }
/** Whose an order is: a customer's, or a guest's who shows its token. */
type Caller = { readonly customerId: string } | { readonly token: string | undefined }

type Deps = {
  db: Database
  /** Whether this token shows that the order is the caller's. */
  isToken: (token: string, orderId: string, version: number) => boolean
  carriers: () => Promise<Directory>
}

export function createShipmentService({ db, isToken, carriers }: Deps) {
  /** Something has to be sent, or picked up, for an order, perhaps once more; what comes digitally needs no shipment. */
  async function open(tx: Transaction, { orderId, customerId, groups }: NewShipments): Promise<void> {
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

  /** A parcel is on its way. @throws `SHIPPING_NUMBER_INVALID` */
  async function send(tx: Transaction, { id, order, groups, label: typed }: Parcel): Promise<Label> {
    const { id: order_id, customer_id, token_version } = order
    const label = (await carriers()).labelOf(typed)
    await tx.run(repository.insertParcel, {
      ...{ id, order_id, customer_id, token_version, ...label },
      groups: groups.map(({ key }) => key),
      lines: groups.flatMap(({ lines }) => lines)
    })
    return label
  }

  /** Something else stands on a parcel. @throws `SHIPPING_NUMBER_INVALID` */
  async function relabel(tx: Transaction, id: string, typed: Typed): Promise<Label> {
    const label = (await carriers()).labelOf(typed)
    await tx.run(repository.updateLabel, { id, ...label })
    return label
  }

  /** What of an order is still to be sent; of groups that are not named nothing is. */
  async function remain(tx: Transaction, order_id: string, groups: readonly OrderGroup[]): Promise<void> {
    await tx.run(repository.updateWaiting, { order_id, groups })
  }

  /** They are a customer's from now on. */
  async function handOver(tx: Transaction, order_id: string, customer_id: string): Promise<void> {
    await tx.run(repository.handOver, { order_id, customer_id })
  }

  /** Nothing says any more whose they were. */
  async function forget(tx: Transaction, orderIds: readonly string[]): Promise<void> {
    const order_ids = [...orderIds]
    await tx.run(repository.eraseShipments, { order_ids })
    await tx.run(repository.eraseEvents, { order_ids })
  }

  const owns = (caller: Caller, { order_id, customer_id, token_version }: repository.WholeShipmentRow) =>
    'customerId' in caller
      ? customer_id === caller.customerId
      : customer_id === null && token_version !== null && isToken(caller.token ?? '', order_id, token_version)

  /** @throws `SHIPPING_SHIPMENTS_NOT_FOUND` */
  async function ofOrder(caller: Caller, order_id: string): Promise<ShipmentsResponse> {
    const [rows, { urlOf }] = await Promise.all([
      db.rows(repository.listShipmentsOfOrder, { order_id }),
      carriers()
    ])
    const own = rows.filter(row => owns(caller, row))
    if (own.length === 0) throw shipmentsNotFound()
    return { order_id, items: own.map(row => viewOf(row, urlOf)) }
  }

  /** @throws `SHIPPING_SHIPMENT_NOT_FOUND` */
  async function read(id: string): Promise<AdminShipmentResponse> {
    const [row, { urlOf }] = await Promise.all([db.first(repository.findShipment, { id }), carriers()])
    return adminViewOf(found(row, shipmentNotFound), urlOf)
  }

  /** What anybody may know who has the number: nothing of whoever it is for. @throws `SHIPPING_TRACKING_NOT_FOUND` */
  async function track(number: string, carrier: string | null): Promise<TrackResponse> {
    const wanted = { tracking_key: keyOf(number), carrier }
    const [row, { urlOf }] = await Promise.all([db.first(repository.findTracked, wanted), carriers()])
    const shipment = viewOf(found(row, trackingNotFound), urlOf)
    return { ...shipment, tracking_number: found(shipment.tracking_number ?? undefined, trackingNotFound) }
  }

  return { open, send, relabel, remain, handOver, forget, ofOrder, read, track }
}
export type ShipmentService = ReturnType<typeof createShipmentService>
