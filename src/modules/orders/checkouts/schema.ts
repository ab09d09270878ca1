import { type Static, Type } from '../../../kernel/schema.ts'
import {
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
import { AddressRequest, AddressResponse } from './addresses.ts'
import { FINDING_CODES } from './findings.ts'

/** As many as a quote takes. */
const LINES_MAX = 200
const CODES_MAX = 10
export const QUANTITY_MAX = 1_000_000
const NOTE_LENGTH_MAX = 2_000

export const Items = Type.Array(
  input({ variant_id: Id, quantity: Type.Integer({ minimum: 1, maximum: QUANTITY_MAX }) }),
  {
    description: 'What is bought; items of one variant become one.',
    minItems: 1,
    maxItems: LINES_MAX
  }
)
/** What is said of what is bought, and how. */
export const said = {
  items: Type.Optional(Items),
  email: Type.Optional(
    Type.String({ maxLength: 320, description: 'While it is being written it need not be one yet.' })
  ),
  shipping_address: Type.Optional(AddressRequest),
  billing_address: Type.Optional(AddressRequest),
  shipping_option: Type.Optional(
    line(64, 'The id of one of the options; without it, the cheapest that brings it there.')
  ),
  codes: Type.Optional(Type.Array(line(64), { description: 'Of promotions.', maxItems: CODES_MAX })),
  note: Type.Optional(Type.String({ maxLength: NOTE_LENGTH_MAX, description: 'For the shop.' }))
}
export const CheckoutRequest = request('CheckoutRequest', {
  cart: Type.Optional(Type.Literal(true, { description: 'What is in the cart, in the place of items.' })),
  ...said
})
export const GuestCheckoutRequest = request('GuestCheckoutRequest', {
  guest_cart_token: Type.Optional(
    Type.String({ description: 'What is in this guest cart, in the place of items.', maxLength: 256 })
  ),
  ...said
})
/** What either of them may say. */
export type CheckoutBody = Static<typeof CheckoutRequest> & Static<typeof GuestCheckoutRequest>

export const Method = Type.Enum(['shipping', 'pickup', 'digital'])
/** What a line comes to, and the group with which it is delivered. */
export const lineAmounts = {
  unit_price: amount('Price of one'),
  discounted_price: amount('Price of one after discounts of the catalog'),
  subtotal: amount('unit_price times quantity'),
  discount: amount('All that is taken off the line'),
  line_total: amount('What is left'),
  tax: amount('The tax of the line, whether prices include it or not'),
  group: Type.String({ description: 'The id of the group that it is delivered with.' })
}
/** What a delivery comes to. */
export const deliveryAmounts = {
  shipping: amount('Delivery, after what is taken off it'),
  shipping_discount: amount('What is taken off it'),
  tax: amount('The tax of the delivery')
}
/** What all of it comes to. */
export const totals = {
  subtotal: amount('Items before discounts'),
  discount_total: amount('What is taken off items'),
  shipping_total: amount('Delivery after what is taken off it'),
  tax_total: amount('All tax, whether prices include it or not'),
  tax_added: amount('What of it is not in the prices'),
  cash_rounding: amount('What rounding to what can be paid adds'),
  total: amount('What is paid: subtotal - discount_total + shipping_total + tax_added + cash_rounding')
}

const ItemResponse = Type.Object({
  variant_id: Id,
  product_id: Id,
  name: Type.String(),
  variant_name: Type.String({ description: 'What tells it from others of its product; may be empty.' }),
  sku: Type.String(),
  slug: Type.String({ description: 'Of the product, for its address.' }),
  image_url: nullable(Type.String()),
  attributes: Type.Record(Type.String({ pattern: '^' }), Type.String()),
  quantity: Type.Integer(),
  ...lineAmounts
})
const GroupResponse = Type.Object({
  id: Type.String(),
  method: Method,
  shipping_option: nullable(Type.String({ description: 'The id of the option that is part of the price.' })),
  options: Type.Array(
    Type.Object({
      id: Type.String({ description: 'What is chosen: it stays the same when the amount changes.' }),
      method: Method,
      provider: nullable(Type.String({ description: 'Who carries it.' })),
      service: Type.String(),
      amount: amount('What it costs, without what codes take off'),
      estimated_days: nullable(Type.Object({ min: Type.Integer(), max: Type.Integer() }))
    }),
    { description: 'All ways to have it, the cheapest first.' }
  ),
  ...deliveryAmounts
})
const Exempt = nullable(Type.String({ description: 'Of tax that the customer does not pay: why.' }))
const ComponentResponse = Type.Object({
  kind: Type.Enum(['item', 'discount', 'shipping', 'shipping_discount', 'tax', 'cash_rounding']),
  variant_id: nullable({ ...Id, description: 'Of the item that it belongs to.' }),
  group: nullable(Type.String()),
  shipping_option: nullable(Type.String()),
  promotion_id: nullable(Id),
  code: nullable(Type.String()),
  tax_category: nullable(Type.String()),
  rate_ppm: nullable(Type.Integer()),
  base: nullable(amount('Of tax: what it is for')),
  amount: amount('Below zero for what is taken off'),
  included: Type.Boolean({ description: 'Whether it is part of the other amounts already.' }),
  exempt: Exempt
})
export const TaxExemption = Type.Object(
  {
    company: Type.String(),
    vat_id: nullable(Type.String()),
    reason: Type.String({ description: 'Why, as invoices say it.' })
  },
  { description: 'Who is exempt from tax, where any of it is not paid.' }
)
export type TaxExemption = Static<typeof TaxExemption>
export const FindingResponse = Type.Object({
  code: Type.Enum(FINDING_CODES, { description: 'What it is, for programs.' }),
  message: Type.String({ description: 'What it is, for shoppers.' }),
  blocking: Type.Boolean({ description: 'Whether nothing can be bought until it is gone.' }),
  variant_id: Type.Optional(Id),
  available: Type.Optional(Type.Integer({ description: 'How many there are.' })),
  quantity_min: Type.Optional(Type.Integer()),
  quantity_max: Type.Optional(Type.Integer()),
  quantity_step: Type.Optional(Type.Integer()),
  field: Type.Optional(Type.String({ description: 'Which one, such as shipping_address/city.' })),
  group: Type.Optional(Type.String()),
  promotion_code: Type.Optional(Type.String()),
  missing_amount: Type.Optional(amount('What would have to be added')),
  missing_quantity: Type.Optional(Type.Integer()),
  conflicts_with: Type.Optional(
    Type.Array(Type.String(), { description: 'Names of what is taken off instead.' })
  )
})
export type FindingResponse = Static<typeof FindingResponse>
const Status = Type.Enum(['open', 'action_required', 'completed', 'expired', 'canceled'], {
  description: 'action_required: it is ordered, and its order waits for its payment. completed: all is done.'
})

/** What something costs, and why. */
export const priceFields = {
  market: Type.String({ description: 'The code of the market in which it is bought.' }),
  currency: Currency,
  items: Type.Array(ItemResponse),
  unavailable_items: Type.Array(
    Type.Object({
      variant_id: Id,
      name: nullable(Type.String({ description: 'The last name that is known.' })),
      quantity: Type.Integer()
    }),
    { description: 'What cannot be bought here; it counts for nothing in the amounts.' }
  ),
  groups: Type.Array(GroupResponse),
  ...totals,
  discounts: Type.Array(
    Type.Object({
      promotion_id: Id,
      name: Type.String({ description: 'What shoppers read beside it.' }),
      code: nullable(Type.String({ description: 'Null: it holds without one.' })),
      amount: amount('What it takes off, of items and deliveries')
    }),
    { description: 'What promotions take off; what the catalog takes off is in discounted_price.' }
  ),
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
  quote_hash: Type.String({ description: 'The same as long as the same things cost the same.' })
}
const fields = {
  id: Id,
  customer_id: nullable({ ...Id, description: 'Null: of a guest.' }),
  order_id: nullable({ ...Id, description: 'The order that it has become.' }),
  status: Status,
  ready: Type.Boolean({ description: 'Whether it can be bought as it is: it is open, and nothing blocks.' }),
  ...priceFields,
  findings: Type.Array(FindingResponse, { description: 'What a shopper should know, or has to do.' }),
  email: nullable(Type.String()),
  shipping_address: nullable(AddressResponse),
  billing_address: nullable(AddressResponse),
  shipping_option: nullable(Type.String({ description: 'The one that was chosen.' })),
  codes: Type.Array(Type.String()),
  note: nullable(Type.String()),
  version: Version,
  created_at: Time,
  updated_at: Time,
  expires_at: Time
}
export const CheckoutResponse = response('CheckoutResponse', fields)
export type CheckoutResponse = Static<typeof CheckoutResponse>

export const NewGuestCheckoutResponse = response('NewGuestCheckoutResponse', {
  checkout_token: Type.String({ description: 'Told once; send it as X-Checkout-Token.' }),
  ...fields
})
