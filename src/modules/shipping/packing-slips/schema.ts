import { metadataFilterQuery, publicMetadataResponseFields } from '../../../kernel/metadata.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Day, Id, input, listOf, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'
import { AdminShipmentResponse } from '../shipments/schema.ts'
import { ShipmentStatus } from '../tracking/schema.ts'

const Part = Type.Optional(Type.String())
export const PackingSlipResponse = response('PackingSlipResponse', {
  shipment_id: Id,
  order_id: Id,
  order_number: nullable(Type.String()),
  service: nullable(Type.String()),
  carrier: nullable(Type.String()),
  tracking_number: nullable(Type.String()),
  sent_at: nullable(Time),
  address: nullable(
    Type.Object({
      name: Part,
      company: Part,
      line1: Part,
      line2: Part,
      city: Part,
      region: Part,
      postal_code: Part,
      country: Type.String(),
      phone: Part
    })
  ),
  lines: Type.Array(
    Type.Object({
      line: Type.Integer(),
      quantity: Type.Integer(),
      sku: nullable(Type.String()),
      name: nullable(Type.String()),
      variant_name: nullable(Type.String()),
      ...publicMetadataResponseFields
    })
  )
})
export type PackingSlip = Static<typeof PackingSlipResponse>

const filters = {
  status: Type.Optional(ShipmentStatus),
  carrier: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Code or name of the carrier.' })
  ),
  order_id: Type.Optional(Id),
  since: Type.Optional(
    Type.String({ format: 'date-time', description: 'Shipments created at this time or later.' })
  ),
  ...metadataFilterQuery
}
export const ShipmentQuery = input({ ...filters, ...pageQuery })
export type ShipmentQuery = Static<typeof ShipmentQuery>
export const ShipmentListResponse = listOf(AdminShipmentResponse)
export const PackingSlipsQuery = input({
  day: Type.Optional({
    ...Day,
    description: 'Shipments shipped on this day. Default: pending shipments.'
  }),
  cursor: Type.Optional({
    ...pageQuery.cursor,
    description: 'The cursor in the `Link` of the previous page.'
  })
})
export type PackingSlipsQuery = Static<typeof PackingSlipsQuery>
export const packingSlipPageResponseSchema = {
  200: { description: 'A printable HTML page.', content: { 'text/html': { schema: Type.String() } } }
}
export const shipmentCsvResponseSchema = {
  200: {
    description: 'A CSV file with one row per shipment.',
    content: { 'text/csv': { schema: Type.String() } }
  }
}
