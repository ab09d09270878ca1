import type { Readable } from 'node:stream'
import { found } from '../../../kernel/errors.ts'
import { HIGHEST_ID, LOWEST_ID } from '../../../kernel/ids.ts'
import type { Metadata } from '../../../kernel/metadata.ts'
import { LATEST_MICROSECOND, type Page, readPage } from '../../../kernel/pages.ts'
import { definePort } from '../../../kernel/ports.ts'
import { createCsvStream, csvLine } from '../../../platform/csv/write.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import type { CarrierDirectory } from '../carriers/directory.ts'
import { shipmentNotFoundError } from '../errors.ts'
import { findShipment, type ShipmentWithEvents } from '../shipments/repository.ts'
import type { AdminShipmentResponse } from '../shipments/schema.ts'
import { adminShipmentView } from '../shipments/view.ts'
import { renderPackingSlipsPage } from './page.ts'
import * as repository from './repository.ts'
import type { PackingSlip, PackingSlipsQuery, ShipmentQuery } from './schema.ts'

/** Data of an order that packing slips show. */
type SlipOrder = {
  readonly id: string
  readonly number: string
  readonly address: PackingSlip['address']
  readonly lines: readonly {
    readonly line: number
    readonly sku: string
    readonly name: string
    readonly variant_name: string
    readonly metadata: Metadata
    /** Weight of a unit. */
    readonly weight_grams: number
  }[]
}
/** Reads the orders with these ids for packing slips. Missing orders are left out. */
export type PackingSlipOrderReader = (db: Queryable, ids: readonly string[]) => Promise<readonly SlipOrder[]>

/** Without a provider, packing slips show only shipping's own data. */
export const packingSlipOrdersPort = definePort<PackingSlipOrderReader>('shipping.packing_slip_orders', {
  description: 'Reads orders for packing slips.',
  providers: 'one'
})

type Deps = {
  db: Database
  carriers: () => Promise<CarrierDirectory>
  describeOrders: PackingSlipOrderReader
  timeZone: string
}
/** Sheets per page. */
const SHEETS_MAX = 200
const COLUMNS = [
  ...[
    'order_number',
    'name',
    'company',
    'line1',
    'line2',
    'postal_code',
    'city',
    'region',
    'country',
    'phone'
  ],
  ...['service', 'items', 'pieces', 'order_id', 'shipment_id']
]

/** No total is counted, because pages of packing slips show none. */
const never = async () => undefined

/** Lists of shipments and packing slips for administrators. */
export function createPackingSlipService({ db, carriers, describeOrders, timeZone }: Deps) {
  async function slipsOf(rows: readonly ShipmentWithEvents[]): Promise<PackingSlip[]> {
    const ids = [...new Set(rows.map(({ order_id }) => order_id))]
    const orders = ids.length === 0 ? [] : await describeOrders(db, ids)
    const byId = new Map(orders.map(order => [order.id, order]))
    return rows.map(row => slipOf(row, byId.get(row.order_id)))
  }

  /** @throws `SHIPPING_SHIPMENT_NOT_FOUND` */
  async function one(id: string): Promise<PackingSlip> {
    const [slip] = await slipsOf([found(await db.first(findShipment, { id }), shipmentNotFoundError)])
    return found(slip, shipmentNotFoundError)
  }

  async function* exportLines(): AsyncGenerator<string> {
    for (let place = { at: 0, id: LOWEST_ID }; ; ) {
      const rows = await db.rows(repository.listUnshippedShipments, { ...place, limit: SHEETS_MAX })
      const last = rows.at(-1)
      if (last === undefined) return
      yield (await slipsOf(rows)).map(slip => csvLine(csvCells(slip))).join('')
      place = { at: last.at, id: last.id }
    }
  }

  return {
    one,
    page: async (id: string): Promise<string> => renderPackingSlipsPage([await one(id)], null),
    /** Renders at most `SHEETS_MAX` sheets, and returns the cursor of the next page. @throws `INVALID_CURSOR` */
    pageOf: async ({ day, ...place }: PackingSlipsQuery): Promise<{ page: string; next: string | null }> => {
      const asked = { ...place, limit: SHEETS_MAX }
      const { items, next_cursor: next } =
        day === undefined
          ? await readPage(asked, {
              name: 'slips to send',
              start: { at: 0, id: LOWEST_ID },
              total: never,
              rows: place => db.rows(repository.listUnshippedShipments, place),
              placeOf: ({ at, id }) => ({ at, id })
            })
          : await readPage(asked, {
              name: 'slips of a day',
              filters: day,
              start: { at: 0, id: LOWEST_ID },
              total: never,
              rows: place => db.rows(repository.listShipmentsSentOnDay, { day, zone: timeZone, ...place }),
              placeOf: ({ at, id }) => ({ at, id })
            })
      return { page: renderPackingSlipsPage(await slipsOf(items), next), next }
    },
    exportWaiting: (): Readable => createCsvStream(COLUMNS, exportLines()),
    list: async (query: ShipmentQuery): Promise<Page<AdminShipmentResponse>> => {
      const { status = null, carrier = null, order_id = null, metadata = null, since, ...asked } = query
      const from = since === undefined ? null : new Date(since)
      const filters = { status, carrier, order_id, metadata, since: from }
      const { urlOf } = await carriers()
      const page = await readPage(asked, {
        name: 'all shipments',
        filters,
        start: { at: LATEST_MICROSECOND, id: HIGHEST_ID },
        rows: place => db.rows(repository.listShipments, { ...filters, ...place }),
        placeOf: ({ at, id }) => ({ at, id }),
        total: () => db.first(repository.countShipments, filters)
      })
      return { ...page, items: page.items.map(({ at: _, ...row }) => adminShipmentView(row, urlOf)) }
    }
  }
}
export type PackingSlipService = ReturnType<typeof createPackingSlipService>

function slipOf(row: ShipmentWithEvents, order: SlipOrder | undefined): PackingSlip {
  const lineOf = new Map(order?.lines.map(line => [line.line, line]))
  return {
    shipment_id: row.id,
    order_id: row.order_id,
    order_number: order?.number ?? null,
    service: row.service,
    carrier: row.carrier,
    tracking_number: row.tracking_number,
    sent_at: row.sent_at,
    // A pickup has no address.
    address: row.method === 'pickup' ? null : (order?.address ?? null),
    lines: row.lines.map(({ line, quantity }) => {
      const { sku = null, name = null, variant_name = null, metadata = {} } = lineOf.get(line) ?? {}
      return { line, quantity, sku, name, variant_name, metadata }
    })
  }
}

function csvCells({ address, lines, ...slip }: PackingSlip) {
  const { name, company, line1, line2, postal_code, city, region, country, phone } = address ?? {}
  const place = [name, company, line1, line2, postal_code, city, region, country, phone]
  return [
    slip.order_number,
    ...place.map(text => text ?? null),
    slip.service,
    lines.map(({ quantity, sku }) => `${quantity} x ${sku ?? '?'}`).join('; '),
    lines.reduce((sum, { quantity }) => sum + quantity, 0),
    slip.order_id,
    slip.shipment_id
  ]
}
