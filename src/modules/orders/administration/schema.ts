import { changeListQueryFields, changeListResponse } from '../../../kernel/change-lists.ts'
import {
  adminMetadataRequestFields,
  adminMetadataResponseFieldSchemas,
  metadataFilterQuery
} from '../../../kernel/metadata.ts'
import { acceptsFieldsOf, showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  Id,
  input,
  line,
  nullable,
  pageQuery,
  request,
  response,
  Time
} from '../../../kernel/wire.ts'
import { ORDER_ACTIONS, type OrderActionName } from '../lifecycle/actions.ts'
import {
  FulfillmentStatusSchema,
  OrderHistoryActionSchema,
  OrderHistoryStateAfterSchema,
  OrderHistoryStateBeforeSchema,
  OrderPaymentStatusSchema,
  OrderStatusSchema,
  OrderSummaryResponse,
  orderResource,
  orderResponseFieldSchemas,
  orderShipmentResponseFieldSchemas
} from '../orders/schema.ts'

/** Actions of administrators without a request of their own. */
export const ADMIN_ORDER_TRANSITIONS = [
  'hold',
  'release',
  'complete',
  'reopen'
] as const satisfies OrderActionName[]

const UNITS_MAX = 1_000_000
const Units = Type.Array(
  input({
    line: Type.Integer({ minimum: 1, maximum: 1_000, description: 'The `id` of an item of the order.' }),
    quantity: Type.Integer({ minimum: 1, maximum: UNITS_MAX })
  }),
  { minItems: 1, maxItems: 200 }
)
const Reason = line(500, 'Reason, kept in the history.')

export const OrderFilterQuery = input({
  status: Type.Optional(OrderStatusSchema),
  payment_status: Type.Optional(OrderPaymentStatusSchema),
  fulfillment_status: Type.Optional(FulfillmentStatusSchema),
  customer_id: Type.Optional(Id),
  placed: Type.Optional(
    Type.Boolean({
      description:
        'True: orders to process, which are paid, authorized, on account or paid on delivery. False: orders that wait for payment.'
    })
  ),
  email: Type.Optional(line(320, 'Email address of the order; case does not matter.')),
  number: Type.Optional(line(32, 'Order number, with or without its dash; case does not matter.')),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Orders created at this time or later.' })
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Orders created before this time.' })),
  ...metadataFilterQuery
})
export type OrderFilterQuery = Static<typeof OrderFilterQuery>
/** What one row of an exported file stands for: an order, a line or a tax. */
const EXPORTED = ['orders', 'lines', 'taxes'] as const
export type OrderExportRowKind = (typeof EXPORTED)[number]
export const OrderExportQuery = input({
  ...OrderFilterQuery.properties,
  rows: Type.Optional(
    Type.Enum([...EXPORTED], {
      default: 'orders',
      description:
        'What one row of the file holds: an order, a line of an order (item, delivery or rounding), or a tax rate of an order.'
    })
  )
})
export type OrderExportQuery = Static<typeof OrderExportQuery>
export const OrderListQuery = input({
  ...OrderFilterQuery.properties,
  ...changeListQueryFields,
  ...pageQuery
})
export type OrderListQuery = Static<typeof OrderListQuery>
export const OrderListResponse = changeListResponse(OrderSummaryResponse, 'AdminOrderListResponse')

const unchecked = Type.Optional(
  Type.Boolean({
    default: false,
    description: 'Accepts a tracking number that fails the format check of its carrier.'
  })
)
export const OrderShipmentParams = input({ id: Id, shipment_id: Id })
export const CreateShipmentRequest = request('ShipmentRequest', {
  lines: Type.Optional({ ...Units, description: 'Units to ship. Default: all remaining units.' }),
  carrier: Type.Optional(line(100, 'The code or the name of a carrier. Any other name is stored unchanged.')),
  tracking_number: Type.Optional(line(100)),
  unchecked
})
export const RelabelShipmentRequest = request('RelabelShipmentRequest', {
  carrier: Type.Optional(nullable(line(100))),
  tracking_number: Type.Optional(nullable(line(100, 'Null removes the tracking number.'))),
  unchecked,
  reason: Type.Optional(Reason)
})
export const TrackingEventParams = input({ id: Id, shipment_id: Id, event_id: Id })
export const VoidShipmentRequest = request('VoidRequest', { reason: Reason })
export const ReturnOrderUnitsRequest = request('ReturnRequest', {
  lines: Units,
  restock: Type.Optional(Type.Boolean({ default: true, description: 'Whether the units go back to stock.' })),
  reason: Type.Optional(Reason)
})
export const RefundOrderRequest = request('RefundOrderRequest', {
  lines: Type.Optional(Units),
  amount: Type.Optional({
    ...Amount,
    minimum: 1,
    description: 'Amount to credit instead of lines, in minor units of the currency.'
  }),
  reason: Reason
})
export type RefundOrderRequest = Static<typeof RefundOrderRequest>
export const CancelOrderRequest = request('CancelOrderRequest', {
  lines: Type.Optional({ ...Units, description: 'Units to cancel. Default: the whole order.' }),
  reason: Type.Optional(Reason)
})
export const OrderTransitionRequest = request('TransitionRequest', {
  action: Type.Enum([...ADMIN_ORDER_TRANSITIONS], {
    description:
      '`hold` and `release` stop and resume shipping. `complete` and `reopen` close and reopen the order.'
  }),
  reason: Type.Optional(Reason)
})
export const OrderNoteRequest = request('OrderNoteRequest', {
  text: line(2_000, 'Text of the note. Only administrators see it.')
})

export const UpdateOrderRequest = acceptsFieldsOf(
  orderResource,
  'update',
  request('UpdateOrderRequest', adminMetadataRequestFields)
)
export type UpdateOrderRequest = Static<typeof UpdateOrderRequest>

export const AdminOrderResponse = showsFieldsOf(
  orderResource,
  'admin',
  response('AdminOrderResponse', {
    ...orderResponseFieldSchemas,
    shipments: Type.Array(
      Type.Object({
        ...orderShipmentResponseFieldSchemas,
        voided_by: nullable({ ...Id, description: 'The administrator who voided the shipment.' }),
        void_reason: nullable(Type.String()),
        former: Type.Array(
          Type.Object({
            carrier: nullable(Type.String()),
            tracking_number: nullable(Type.String()),
            actor: nullable({ ...Id, description: 'The administrator who changed it.' }),
            until: { ...Time, description: 'When it was replaced.' }
          }),
          { description: 'Earlier carriers and tracking numbers, oldest first.' }
        )
      }),
      { description: 'Shipments of the order, voided ones included.' }
    ),
    ...adminMetadataResponseFieldSchemas,
    tax_engine: nullable(
      Type.Object(
        {
          name: Type.String({ description: 'The name of the engine.' }),
          is_fallback: Type.Boolean({
            description: 'Whether the engine failed, so that the tax rates of the shop apply.'
          })
        },
        { description: 'The tax engine that the shop used for this order. Null: the shop had none.' }
      )
    ),
    is_overpaid: Type.Boolean({ description: 'Whether more was captured than is due.' }),
    is_disputed: Type.Boolean({ description: 'Whether a payment is disputed.' }),
    held_at: nullable({ ...Time, description: 'Since when the order is on hold. Null: it is not.' }),
    erased_at: nullable({ ...Time, description: 'When the personal data of the order was erased.' }),
    cancel_requested_by: nullable(
      Type.Enum(['customer', 'guest', 'admin', 'system'], {
        description: 'Who requested a cancellation that is pending. Null: none is pending.'
      })
    ),
    history: Type.Array(
      Type.Object({
        action: OrderHistoryActionSchema,
        from: OrderHistoryStateBeforeSchema,
        to: OrderHistoryStateAfterSchema,
        actor: nullable({ ...Id, description: 'The user who acted. Null: a guest or the shop itself.' }),
        reason: nullable(Type.String()),
        at: Time
      }),
      { description: 'Actions on the order, oldest first.' }
    ),
    next_actions: Type.Array(Type.Enum(Object.keys(ORDER_ACTIONS) as OrderActionName[]), {
      description: 'Actions that an administrator can take now.'
    })
  })
)
export type AdminOrderResponse = Static<typeof AdminOrderResponse>
