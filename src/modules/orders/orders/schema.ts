import { publicMetadataResponseFields } from '../../../kernel/metadata.ts'
import { showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { defineResource } from '../../../kernel/resources.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { amount, Currency, Id, nullable, response, Time, Version } from '../../../kernel/wire.ts'
import { OrderAddressResponse } from '../checkouts/addresses.ts'
import {
  AppliedTaxExemption,
  DeliveryMethodKindSchema,
  deliveryGroupAmountResponseFieldSchemas,
  lineAmountResponseFieldSchemas,
  priceTotalResponseFieldSchemas
} from '../checkouts/schema.ts'
import { ORDER_ACTIONS, type OrderActionName } from '../lifecycle/actions.ts'

export const OrderStatusSchema = Type.Enum(['pending', 'paid', 'shipped', 'completed', 'canceled'], {
  description: 'Summary of payment and fulfilment. `pending`: the order waits for payment or is paid later.'
})
export const OrderPaymentStatusSchema = nullable(
  Type.Enum(['unpaid', 'authorized', 'partially_paid', 'paid', 'partially_refunded', 'refunded'], {
    description: 'Status of the money. Null: the payments module is disabled.'
  })
)
export const FulfillmentStatusSchema = Type.Enum(
  ['none', 'partial', 'fulfilled', 'partially_returned', 'returned', 'not_required'],
  {
    description:
      'Status of the shipments. `none`: nothing is shipped. `not_required`: no item needs shipping.'
  }
)

const ItemResponse = Type.Object({
  id: Type.Integer({
    description: 'Number of the item within its order, from 1. Other requests call it `line`.'
  }),
  line_id: { ...Id, description: 'The id of the item in its cart or checkout.' },
  variant_id: Id,
  product_id: Id,
  name: Type.String(),
  variant_name: Type.String({ description: 'Name of the variant within its product. It may be empty.' }),
  sku: Type.String(),
  slug: Type.String({ description: 'Slug of the product at the time of the order.' }),
  image_url: nullable(Type.String()),
  attributes: Type.Record(Type.String({ pattern: '^' }), Type.String()),
  ...publicMetadataResponseFields,
  quantity: Type.Integer({ description: 'Units ordered.' }),
  canceled: Type.Integer({ description: 'Units canceled before shipment.' }),
  fulfilled: Type.Integer({ description: 'Units shipped or delivered.' }),
  returned: Type.Integer({ description: 'Units returned.' }),
  refunded: Type.Integer({ description: 'Shipped units that were refunded, returned or not.' }),
  ...lineAmountResponseFieldSchemas
})
const GroupResponse = Type.Object({
  id: Type.String(),
  method: DeliveryMethodKindSchema,
  shipping_option: nullable(
    Type.Object({
      id: Type.String(),
      provider: nullable(Type.String({ description: 'Name of the carrier.' })),
      service: Type.String(),
      estimated_days: nullable(Type.Object({ min: Type.Integer(), max: Type.Integer() }))
    })
  ),
  ...deliveryGroupAmountResponseFieldSchemas
})
const Exempt = nullable(
  Type.String({ description: 'The reason for an exemption from this tax. Null: the tax is due.' })
)
const ComponentResponse = Type.Object({
  kind: Type.Enum(['item', 'discount', 'shipping', 'shipping_discount', 'tax', 'cash_rounding']),
  item: nullable(Type.Integer({ description: 'The id of the item. Null: it belongs to no item.' })),
  group: nullable(Type.String({ description: 'The id of a delivery group. Null: it belongs to none.' })),
  shipping_option: nullable(Type.String({ description: 'The shipping option that the amount is for.' })),
  promotion_id: nullable({ ...Id, description: 'The promotion of a discount.' }),
  title: nullable(Type.String({ description: 'Name of a promotion for buyers.' })),
  code: nullable(Type.String()),
  tax_category: nullable(Type.String({ description: 'The category of a tax.' })),
  rate_ppm: nullable(
    Type.Integer({ description: 'The rate of a tax, in parts per million: 190000 is 19 %.' })
  ),
  base: nullable(amount('For tax, the amount that is taxed')),
  exempt: Exempt,
  amount: amount('Negative for a discount'),
  included: Type.Boolean({ description: 'Whether other amounts include it, such as tax in a price.' })
})

const AdjustmentResponse = Type.Object({
  id: Id,
  kind: Type.Enum(['cancel', 'refund'], {
    description: '`cancel`: units that are not delivered. `refund`: units or amounts credited after shipment.'
  }),
  amount: amount('Credited amount'),
  back: amount('Part of the credit that is refunded'),
  reason: nullable(Type.String()),
  at: Time,
  parts: Type.Array(
    Type.Object({
      item: nullable(Type.Integer({ description: 'The id of an item. Null: see `group`.' })),
      group: nullable(
        Type.String({ description: 'The id of a delivery group. With `item` null too: the cash rounding.' })
      ),
      units: Type.Integer({ description: 'Units credited.' }),
      amount: amount('Credited amount with tax'),
      tax: amount('Tax in the credited amount'),
      tax_category: nullable(Type.String()),
      rate_ppm: nullable(Type.Integer())
    })
  )
})

/**
 * Orders. Modules can add fields to reads of the buyer and of administrators, and to the update of administrators. Lists of
 * administrators show the fields of the buyer.
 */
export const orderResource = defineResource('orders.order', { audiences: ['owner', 'admin'] })

const summary = {
  id: Id,
  number: Type.String({ description: 'Order number for people, such as 7Q3M-K0XD.' }),
  status: OrderStatusSchema,
  payment_status: OrderPaymentStatusSchema,
  fulfillment_status: FulfillmentStatusSchema,
  customer_id: nullable({ ...Id, description: 'Null: the order of a guest.' }),
  email: nullable(Type.String()),
  market: Type.String(),
  currency: Currency,
  ...priceTotalResponseFieldSchemas,
  version: Version,
  placed_at: nullable({
    ...Time,
    description: 'When it was paid, authorized or accepted for later payment.'
  }),
  created_at: Time,
  updated_at: Time
}
export const OrderSummaryResponse = showsFieldsOf(
  orderResource,
  'owner',
  response('OrderSummaryResponse', {
    ...summary,
    quantity: Type.Integer({ description: 'Units of all items.' })
  })
)
export type OrderSummaryResponse = Static<typeof OrderSummaryResponse>

/** Fields of an entry of the history. */
export const OrderHistoryActionSchema = Type.String({
  description: 'The action, such as `fulfil` or `refund`.'
})
export const OrderHistoryStateBeforeSchema = nullable(
  Type.String({ description: 'State before: `pending`, `placed`, `completed` or `canceled`.' })
)
export const OrderHistoryStateAfterSchema = Type.String({ description: 'State after the action.' })

/** Fields of a shipment. */
export const orderShipmentResponseFieldSchemas = {
  id: Id,
  carrier: nullable(Type.String()),
  tracking_number: nullable(Type.String()),
  lines: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'The `id` of an item of the order.' }),
      quantity: Type.Integer()
    })
  ),
  at: Time,
  voided_at: nullable({
    ...Time,
    description: 'When the shipment was voided as recorded by mistake. Null: it is valid.'
  })
}
/** Fields for buyers and administrators. */
export const orderResponseFieldSchemas = {
  ...summary,
  terms: Type.Enum(['prepaid', 'on_account', 'cod'], {
    description: '`prepaid`: paid before processing. `on_account`: paid by invoice. `cod`: paid on delivery.'
  }),
  items: Type.Array(ItemResponse),
  groups: Type.Array(GroupResponse),
  components: Type.Array(ComponentResponse, {
    description: 'The parts of the total. The parts with `included: false` add up to it.'
  }),
  tax_summary: Type.Array(
    Type.Object({
      tax_category: Type.String(),
      rate_ppm: Type.Integer({ description: 'Rate in parts per million: 190000 is 19 %.' }),
      net: Type.Integer({ description: 'Taxed amount without tax, in minor units.' }),
      tax: Type.Integer({ description: 'Tax, in minor units.' }),
      gross: Type.Integer({ description: 'Taxed amount with tax, in minor units.' }),
      exempt: Exempt
    }),
    { description: 'Taxes of the total, one entry per category and rate.' }
  ),
  tax_exemption: nullable(AppliedTaxExemption),
  shipping_address: nullable(OrderAddressResponse),
  billing_address: nullable(OrderAddressResponse),
  note: nullable(Type.String({ description: 'Note of the buyer.' })),
  ...publicMetadataResponseFields,
  shipments: Type.Array(Type.Object(orderShipmentResponseFieldSchemas), {
    description: 'Shipments of the order, voided ones included.'
  }),
  tenders: Type.Array(
    Type.Object({
      id: Id,
      type: Type.String({ description: 'The type of the tender, such as `gift_card`.' }),
      label: Type.String({ description: 'What people recognize it by, such as the end of its code.' }),
      amount: amount('What it covers of the total'),
      refunded: amount('What it got back')
    }),
    { description: 'Gift cards, store credit and the like that cover a part or all of the total.' }
  ),
  adjustments: Type.Array(AdjustmentResponse, {
    description: 'Cancellations and refunds that reduce the total.'
  }),
  expires_at: nullable({
    ...Time,
    description:
      'When an unpaid order is canceled. It depends on the payment method. Null: it does not expire.'
  }),
  cancel_requested_at: nullable({
    ...Time,
    description:
      'When cancellation was requested, while a payment provider has not confirmed it. Null: no cancellation is pending.'
  })
}
const order = {
  ...orderResponseFieldSchemas,
  history: Type.Array(
    Type.Object({
      action: OrderHistoryActionSchema,
      from: OrderHistoryStateBeforeSchema,
      to: OrderHistoryStateAfterSchema,
      at: Time
    }),
    {
      description: 'Actions on the order, oldest first.'
    }
  ),
  next_actions: Type.Array(Type.Enum(Object.keys(ORDER_ACTIONS) as OrderActionName[]), {
    description: 'Actions that the buyer can take now.'
  })
}
export const OrderResponse = showsFieldsOf(orderResource, 'owner', response('OrderResponse', order))
export type OrderResponse = Static<typeof OrderResponse>
export const GuestOrderResponse = showsFieldsOf(
  orderResource,
  'owner',
  response('GuestOrderResponse', {
    order_token: Type.String({ description: 'Proves access to the order. Send it as `X-Order-Token`.' }),
    ...order
  })
)
export type GuestOrderResponse = Static<typeof GuestOrderResponse>
