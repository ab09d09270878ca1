import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  Id,
  input,
  line,
  listOf,
  nullable,
  pageQuery,
  request,
  response,
  Time
} from '../../../kernel/wire.ts'
import { ACTIONS, type ActionName } from '../life/actions.ts'
import {
  FulfillmentStatus,
  OrderSummaryResponse,
  orderFields,
  PaymentStatus,
  Status,
  shipmentFields
} from '../orders/schema.ts'
import { TRANSITIONS } from './actions.ts'

const UNITS_MAX = 1_000_000
const Units = Type.Array(
  input({
    line: Type.Integer({ minimum: 1, maximum: 1_000, description: 'The `id` of an item.' }),
    quantity: Type.Integer({ minimum: 1, maximum: UNITS_MAX })
  }),
  { minItems: 1, maxItems: 200 }
)
const Reason = line(500, 'Why, for the history.')

export const OrderQuery = input({
  status: Type.Optional(Status),
  payment_status: Type.Optional(PaymentStatus),
  fulfillment_status: Type.Optional(FulfillmentStatus),
  customer_id: Type.Optional(Id),
  placed: Type.Optional(
    Type.Boolean({
      description:
        'Whether it is placed: paid, authorized, or to be paid later (on account, on delivery). Orders that wait for their payment are not.'
    })
  ),
  email: Type.Optional(line(320, 'Of the order, in any case.')),
  number: Type.Optional(line(32, 'With or without its dash, in any case.')),
  from: Type.Optional(Type.String({ format: 'date-time', description: 'Made at this time or later.' })),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Made before this time.' }))
})
export type OrderQuery = Static<typeof OrderQuery>
/** What a row of an exported file is. */
const EXPORTED = ['orders', 'lines', 'taxes'] as const
export type Exported = (typeof EXPORTED)[number]
export const OrderExportQuery = input({
  ...OrderQuery.properties,
  rows: Type.Optional(
    Type.Enum([...EXPORTED], {
      default: 'orders',
      description:
        'What a row is: an order; a line (an item, a delivery or the rounding, whose totals add up to the total of the order); or a tax rate of an order.'
    })
  )
})
export type OrderExportQuery = Static<typeof OrderExportQuery>
export const OrderListQuery = input({ ...OrderQuery.properties, ...pageQuery })
export type OrderListQuery = Static<typeof OrderListQuery>
export const OrderListResponse = listOf(OrderSummaryResponse)

const unchecked = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Take the number as it is, whatever is wrong with it for its carrier.'
  })
)
export const ShipmentParams = input({ id: Id, shipment_id: Id })
export const ShipmentRequest = request('ShipmentRequest', {
  lines: Type.Optional({ ...Units, description: 'All that is left, when they are left out.' }),
  carrier: Type.Optional(line(100, 'The code or the name of a carrier; any other word is taken as it is.')),
  tracking_number: Type.Optional(line(100)),
  unchecked
})
export const RelabelRequest = request('RelabelShipmentRequest', {
  carrier: Type.Optional(nullable(line(100))),
  tracking_number: Type.Optional(nullable(line(100, 'Null: it has none after all.'))),
  unchecked,
  reason: Type.Optional(Reason)
})
export const EventParams = input({ id: Id, shipment_id: Id, event_id: Id })
export const VoidRequest = request('VoidRequest', { reason: Reason })
export const ReturnRequest = request('ReturnRequest', {
  lines: Units,
  restock: Type.Optional(Type.Boolean({ default: true, description: 'Whether it can be sold again.' })),
  reason: Type.Optional(Reason)
})
export const RefundOrderRequest = request('RefundOrderRequest', {
  lines: Type.Optional(Units),
  amount: Type.Optional({ ...Amount, minimum: 1 }),
  reason: Reason
})
export const CancelOrderRequest = request('CancelOrderRequest', {
  lines: Type.Optional({ ...Units, description: 'Only these, when they are not left out.' }),
  reason: Type.Optional(Reason)
})
export const TransitionRequest = request('TransitionRequest', {
  action: Type.Enum([...TRANSITIONS]),
  reason: Type.Optional(Reason)
})
export const OrderNoteRequest = request('OrderNoteRequest', {
  text: line(2_000, 'For administrators alone.')
})

export const AdminOrderResponse = response('AdminOrderResponse', {
  ...orderFields,
  shipments: Type.Array(
    Type.Object({
      ...shipmentFields,
      voided_by: nullable({ ...Id, description: 'Who said that it never left.' }),
      void_reason: nullable(Type.String()),
      former: Type.Array(
        Type.Object({
          carrier: nullable(Type.String()),
          tracking_number: nullable(Type.String()),
          actor: nullable({ ...Id, description: 'Who corrected it.' }),
          until: Time
        }),
        { description: 'What stood on it before, the oldest first.' }
      )
    }),
    { description: 'What has been sent.' }
  ),
  is_overpaid: Type.Boolean(),
  is_disputed: Type.Boolean(),
  held_at: nullable(Time),
  erased_at: nullable({ ...Time, description: 'Since then nothing says whose it was.' }),
  cancel_requested_by: nullable(Type.Enum(['customer', 'guest', 'admin', 'system'])),
  history: Type.Array(
    Type.Object({
      action: Type.String(),
      from: nullable(Type.String()),
      to: Type.String(),
      actor: nullable({ ...Id, description: 'Null: a guest, or the shop itself.' }),
      reason: nullable(Type.String()),
      at: Time
    }),
    { description: 'What happened to it, in order.' }
  ),
  next_actions: Type.Array(Type.Enum(Object.keys(ACTIONS) as ActionName[]), {
    description: 'What an administrator may do now.'
  })
})
export type AdminOrderResponse = Static<typeof AdminOrderResponse>
