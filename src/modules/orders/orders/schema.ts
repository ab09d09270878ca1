import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  amount,
  Currency,
  Id,
  input,
  line,
  nullable,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'
import { AddressResponse } from '../checkouts/addresses.ts'
import {
  deliveryAmounts,
  lineAmounts,
  Method,
  said as saidOfCheckouts,
  TaxExemption,
  totals
} from '../checkouts/schema.ts'
import { ACTIONS, type ActionName } from '../life/actions.ts'

const { email, ...what } = saidOfCheckouts
const agreed = {
  expected_total: Type.Optional({
    ...Amount,
    description: 'The total that the buyer was shown: it is bought at that one, or not at all.'
  }),
  payment: Type.Optional(input({ provider: Type.Optional(line(64)), method: Type.Optional(line(64)) }))
}
export const CompleteCheckoutRequest = request('CompleteCheckoutRequest', agreed)
export type CompleteCheckoutRequest = Static<typeof CompleteCheckoutRequest>
const said = {
  ...what,
  ...agreed,
  market: Type.Optional(
    Type.String({
      maxLength: 64,
      description: 'The code of a market; it counts more than the one of the request.'
    })
  )
}
export const OrderRequest = request('OrderRequest', { email, ...said })
export const GuestOrderRequest = request('GuestOrderRequest', {
  email: Type.String({ minLength: 3, maxLength: 320, description: 'Where the order is confirmed to.' }),
  guest_cart_token: Type.Optional(
    Type.String({ description: 'What is in this guest cart, in the place of items.', maxLength: 256 })
  ),
  ...said
})
/** What either of them may say. */
export type OrderBody = Static<typeof OrderRequest> & { guest_cart_token?: string }

export const Status = Type.Enum(['pending', 'paid', 'shipped', 'completed', 'canceled'], {
  description: 'One word for all of it; pending: it waits for its payment, or is to be paid later.'
})
export const PaymentStatus = nullable(
  Type.Enum(['unpaid', 'authorized', 'partially_paid', 'paid', 'partially_refunded', 'refunded'], {
    description: 'Null: payments are switched off.'
  })
)
export const FulfillmentStatus = Type.Enum([
  'none',
  'partial',
  'fulfilled',
  'partially_returned',
  'returned',
  'not_required'
])

const ItemResponse = Type.Object({
  id: Type.Integer({ description: 'Of the item within its order, from 1.' }),
  variant_id: Id,
  product_id: Id,
  name: Type.String(),
  variant_name: Type.String({ description: 'What tells it from others of its product; may be empty.' }),
  sku: Type.String(),
  slug: Type.String({ description: 'Of the product as it was, for its address.' }),
  image_url: nullable(Type.String()),
  attributes: Type.Record(Type.String({ pattern: '^' }), Type.String()),
  quantity: Type.Integer({ description: 'How many were ordered.' }),
  canceled: Type.Integer({ description: 'How many of them are not delivered after all.' }),
  fulfilled: Type.Integer({ description: 'How many are on their way, or there.' }),
  returned: Type.Integer({ description: 'How many have come back.' }),
  refunded: Type.Integer({ description: 'How many were sent and are paid back all the same.' }),
  ...lineAmounts
})
const GroupResponse = Type.Object({
  id: Type.String(),
  method: Method,
  shipping_option: nullable(
    Type.Object({
      id: Type.String(),
      provider: nullable(Type.String({ description: 'Who carries it.' })),
      service: Type.String(),
      estimated_days: nullable(Type.Object({ min: Type.Integer(), max: Type.Integer() }))
    })
  ),
  ...deliveryAmounts
})
const Exempt = nullable(Type.String({ description: 'Why a tax is not paid.' }))
const ComponentResponse = Type.Object({
  kind: Type.Enum(['item', 'discount', 'shipping', 'shipping_discount', 'tax', 'cash_rounding']),
  item: nullable(Type.Integer({ description: 'The id of the item that it belongs to.' })),
  group: nullable(Type.String()),
  shipping_option: nullable(Type.String()),
  promotion_id: nullable(Id),
  title: nullable(Type.String({ description: 'What shoppers read of a promotion.' })),
  code: nullable(Type.String()),
  tax_category: nullable(Type.String()),
  rate_ppm: nullable(Type.Integer()),
  base: nullable(amount('Of tax: what it is for')),
  exempt: Exempt,
  amount: amount('Below zero for what is taken off'),
  included: Type.Boolean({ description: 'Whether it is part of the other amounts already.' })
})

const AdjustmentResponse = Type.Object({
  id: Id,
  kind: Type.Enum(['cancel', 'refund'], {
    description: 'Whether it is not delivered, or paid back although it was.'
  }),
  amount: amount('What is not to be paid after all'),
  back: amount('What of it had been paid, and goes back'),
  reason: nullable(Type.String()),
  at: Time,
  parts: Type.Array(
    Type.Object({
      item: nullable(Type.Integer({ description: 'The id of an item.' })),
      group: nullable(Type.String({ description: 'Of a delivery; neither: what rounding had added.' })),
      units: Type.Integer(),
      amount: amount('With its tax'),
      tax: amount('The tax in it'),
      tax_category: nullable(Type.String()),
      rate_ppm: nullable(Type.Integer())
    })
  )
})

const summary = {
  id: Id,
  number: Type.String({ description: 'For people, such as 7Q3M-K0XD.' }),
  status: Status,
  payment_status: PaymentStatus,
  fulfillment_status: FulfillmentStatus,
  customer_id: nullable({ ...Id, description: 'Null: of a guest.' }),
  email: nullable(Type.String()),
  market: Type.String(),
  currency: Currency,
  ...totals,
  version: Version,
  placed_at: nullable(Time),
  created_at: Time,
  updated_at: Time
}
export const OrderSummaryResponse = response('OrderSummaryResponse', {
  ...summary,
  quantity: Type.Integer({ description: 'How many pieces it has.' })
})
export type OrderSummaryResponse = Static<typeof OrderSummaryResponse>

/** Of a parcel. */
export const shipmentFields = {
  id: Id,
  carrier: nullable(Type.String()),
  tracking_number: nullable(Type.String()),
  lines: Type.Array(Type.Object({ line: Type.Integer(), quantity: Type.Integer() })),
  at: Time,
  voided_at: nullable({ ...Time, description: 'When it was found out that it never left.' })
}
/** Of every view of an order. */
export const orderFields = {
  ...summary,
  terms: Type.Enum(['prepaid', 'on_account', 'cod'], {
    description: 'Whether it is paid before it is looked after, later, or when it arrives.'
  }),
  items: Type.Array(ItemResponse),
  groups: Type.Array(GroupResponse),
  components: Type.Array(ComponentResponse, {
    description: 'What makes up the total: the sum of those that are not included.'
  }),
  tax_summary: Type.Array(
    Type.Object({
      tax_category: Type.String(),
      rate_ppm: Type.Integer(),
      net: Type.Integer(),
      tax: Type.Integer(),
      gross: Type.Integer(),
      exempt: Exempt
    })
  ),
  tax_exemption: nullable(TaxExemption),
  shipping_address: nullable(AddressResponse),
  billing_address: nullable(AddressResponse),
  note: nullable(Type.String()),
  shipments: Type.Array(Type.Object(shipmentFields), { description: 'What has been sent.' }),
  adjustments: Type.Array(AdjustmentResponse, { description: 'What of it is not to be paid after all.' }),
  expires_at: nullable({
    ...Time,
    description: 'Until then it waits for its payment, which how it is to be paid decides; null: it does not.'
  }),
  cancel_requested_at: nullable({
    ...Time,
    description: 'Somebody wants it canceled, and it is not known yet whether its payment can be let go of.'
  })
}
const order = {
  ...orderFields,
  history: Type.Array(
    Type.Object({ action: Type.String(), from: nullable(Type.String()), to: Type.String(), at: Time }),
    { description: 'What happened to it, in order.' }
  ),
  next_actions: Type.Array(Type.Enum(Object.keys(ACTIONS) as ActionName[]), {
    description: 'What the buyer may do now.'
  })
}
export const OrderResponse = response('OrderResponse', order)
export type OrderResponse = Static<typeof OrderResponse>
export const GuestOrderResponse = response('GuestOrderResponse', {
  order_token: Type.String({ description: 'Send it as X-Order-Token.' }),
  ...order
})
export type GuestOrderResponse = Static<typeof GuestOrderResponse>
