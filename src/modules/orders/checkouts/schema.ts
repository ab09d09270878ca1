import {
  CUSTOMER_WRITTEN_METADATA_BYTES_MAX,
  customerMetadataRequestFields,
  lineMetadataFields,
  publicMetadataResponseFields
} from '../../../kernel/metadata.ts'
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
import { AddressRequest, OrderAddressResponse } from './addresses.ts'
import { CHECKOUT_FINDING_CODES } from './findings.ts'

/** Maximum number of lines of a checkout; a quote has the same maximum. */
const LINES_MAX = 200
const CODES_MAX = 10
export const CHECKOUT_LINE_QUANTITY_MAX = 1_000_000
const NOTE_LENGTH_MAX = 2_000
/** The maximum of an item in a request without its metadata, in compact JSON. */
const ITEM_BYTES_MAX = 80

export const RequestedItemsSchema = Type.Array(
  input({
    variant_id: Id,
    quantity: Type.Integer({ minimum: 1, maximum: CHECKOUT_LINE_QUANTITY_MAX }),
    ...lineMetadataFields
  }),
  {
    description: 'The variants to buy. Items of the same variant with equal metadata are merged.',
    minItems: 1,
    maxItems: LINES_MAX,
    'x-bytes-max': LINES_MAX * ITEM_BYTES_MAX + CUSTOMER_WRITTEN_METADATA_BYTES_MAX
  }
)
/** Request fields that customers and guests share. */
export const checkoutRequestFields = {
  items: Type.Optional(RequestedItemsSchema),
  email: Type.Optional(
    Type.String({
      maxLength: 320,
      description: 'Email address of the buyer. It may be incomplete while the buyer is typing.'
    })
  ),
  shipping_address: Type.Optional(AddressRequest),
  billing_address: Type.Optional(AddressRequest),
  shipping_option: Type.Optional(
    line(64, 'The id of a shipping option of the response. Default: the cheapest option that delivers.')
  ),
  codes: Type.Optional(Type.Array(line(64), { description: 'Promotion codes.', maxItems: CODES_MAX })),
  note: Type.Optional(
    Type.String({ maxLength: NOTE_LENGTH_MAX, description: 'A note from the buyer to the shop.' })
  ),
  ...customerMetadataRequestFields
}
export const CheckoutRequest = request('CheckoutRequest', {
  cart: Type.Optional(
    Type.Literal(true, { description: "Uses the items of the customer's cart instead of `items`." })
  ),
  ...checkoutRequestFields
})
export const GuestCheckoutRequest = request('GuestCheckoutRequest', {
  guest_cart_token: Type.Optional(
    Type.String({ description: 'Uses the items of this guest cart instead of `items`.', maxLength: 128 })
  ),
  ...checkoutRequestFields
})
export const DeliveryMethodKindSchema = Type.Enum(['shipping', 'pickup', 'digital'], {
  description: 'How the group reaches the buyer: sent, picked up, or delivered digitally.'
})
/** Amounts of a line, and its delivery group. */
export const lineAmountResponseFieldSchemas = {
  unit_price: amount('Unit price'),
  discounted_price: amount('Unit price after catalog discounts'),
  subtotal: amount('unit_price times quantity'),
  discount: amount('All discounts of the line'),
  line_total: amount('The line after discounts'),
  tax: amount('The tax of the line, whether prices include it or not'),
  group: Type.String({ description: 'The id of the delivery group of the item.' })
}
/** Amounts of a delivery group. */
export const deliveryGroupAmountResponseFieldSchemas = {
  shipping: amount('Delivery after discounts'),
  shipping_discount: amount('Discounts on the delivery'),
  tax: amount('The tax of the delivery')
}
/** Totals. */
export const priceTotalResponseFieldSchemas = {
  subtotal: amount('Items before discounts'),
  discount_total: amount('Discounts on items'),
  shipping_total: amount('Delivery after discounts'),
  tax_total: amount('All tax, whether prices include it or not'),
  tax_added: amount('Tax that is added to the prices'),
  cash_rounding: amount('Difference from rounding the total to a payable cash amount'),
  total: amount('Total to pay: subtotal - discount_total + shipping_total + tax_added + cash_rounding')
}

/** The id and metadata of an item. */
const itemFields = {
  id: { ...Id, description: 'The id of the item. An item of a cart keeps its id.' },
  ...publicMetadataResponseFields
}
const ItemResponse = Type.Object({
  ...itemFields,
  variant_id: Id,
  product_id: Id,
  name: Type.String(),
  variant_name: Type.String({ description: 'Name of the variant within its product. It may be empty.' }),
  sku: Type.String(),
  slug: Type.String({ description: 'Slug of the product, for links to its page.' }),
  image_url: nullable(Type.String()),
  attributes: Type.Record(Type.String({ pattern: '^' }), Type.String()),
  quantity: Type.Integer(),
  ...lineAmountResponseFieldSchemas
})
const GroupResponse = Type.Object({
  id: Type.String(),
  method: DeliveryMethodKindSchema,
  shipping_option: nullable(
    Type.String({ description: 'The id of the shipping option that the price includes.' })
  ),
  options: Type.Array(
    Type.Object({
      id: Type.String({
        description: 'Send it as `shipping_option`. It stays the same when the amount changes.'
      }),
      method: DeliveryMethodKindSchema,
      provider: nullable(Type.String({ description: 'Name of the carrier.' })),
      service: Type.String(),
      amount: amount('Price before promotion discounts'),
      estimated_days: nullable(Type.Object({ min: Type.Integer(), max: Type.Integer() }))
    }),
    { description: 'All shipping options, cheapest first.' }
  ),
  ...deliveryGroupAmountResponseFieldSchemas
})
const Exempt = nullable(
  Type.String({ description: 'The reason for an exemption from this tax. Null: the tax is due.' })
)
const ComponentResponse = Type.Object({
  kind: Type.Enum(['item', 'discount', 'shipping', 'shipping_discount', 'tax', 'cash_rounding']),
  item: nullable({ ...Id, description: 'The id of the item. Null: it belongs to no item.' }),
  variant_id: nullable({ ...Id, description: 'The variant of the item. Null: it belongs to no item.' }),
  group: nullable(Type.String({ description: 'The id of a delivery group. Null: it belongs to none.' })),
  shipping_option: nullable(Type.String({ description: 'The shipping option that the amount is for.' })),
  promotion_id: nullable({ ...Id, description: 'The promotion of a discount.' }),
  code: nullable(Type.String()),
  tax_category: nullable(Type.String({ description: 'The category of a tax.' })),
  rate_ppm: nullable(
    Type.Integer({ description: 'The rate of a tax, in parts per million: 190000 is 19 %.' })
  ),
  base: nullable(amount('For tax, the amount that is taxed')),
  amount: amount('Negative for a discount'),
  included: Type.Boolean({ description: 'Whether other amounts include it, such as tax in a price.' }),
  exempt: Exempt
})
export const AppliedTaxExemption = Type.Object(
  {
    company: Type.String(),
    vat_id: nullable(Type.String()),
    reason: Type.String({ description: 'The reason to print on invoices.' })
  },
  { description: 'The tax exemption of the customer. Null: no tax is exempt.' }
)
export type AppliedTaxExemption = Static<typeof AppliedTaxExemption>
export const CheckoutFindingResponse = Type.Object({
  code: Type.Enum(CHECKOUT_FINDING_CODES, { description: 'The finding as a stable code for programs.' }),
  message: Type.String({ description: 'The finding as a text for buyers.' }),
  blocking: Type.Boolean({ description: 'Whether it must be solved before the checkout can be completed.' }),
  variant_id: Type.Optional(Id),
  available: Type.Optional(Type.Integer({ description: 'Units that can be bought.' })),
  quantity_min: Type.Optional(Type.Integer({ description: 'Least quantity that can be bought.' })),
  quantity_max: Type.Optional(Type.Integer({ description: 'Most units that can be bought.' })),
  quantity_step: Type.Optional(Type.Integer({ description: 'Quantities are multiples of this.' })),
  field: Type.Optional(
    Type.String({ description: 'The field of the request, such as shipping_address/city.' })
  ),
  item: Type.Optional({ ...Id, description: 'The item that `ORDER_NOT_ALLOWED` is about.' }),
  check_code: Type.Optional(
    Type.String({ description: 'With `ORDER_NOT_ALLOWED`, the code of the check that does not allow it.' })
  ),
  group: Type.Optional(Type.String()),
  promotion_code: Type.Optional(Type.String()),
  missing_amount: Type.Optional(amount('Amount that is missing to the minimum of the promotion')),
  missing_quantity: Type.Optional(
    Type.Integer({ description: 'Units that are missing to the minimum of the promotion.' })
  ),
  conflicts_with: Type.Optional(
    Type.Array(Type.String(), { description: 'Names of the promotions that apply instead.' })
  )
})
export type CheckoutFindingResponse = Static<typeof CheckoutFindingResponse>
const Status = Type.Enum(['open', 'action_required', 'completed', 'expired', 'canceled'], {
  description: '`action_required`: the order exists and waits for payment. `completed`: the order is placed.'
})

/** The price of a checkout and its parts. */
export const checkoutPriceResponseFieldSchemas = {
  market: Type.String({ description: 'The code of the market that prices and taxes belong to.' }),
  currency: Currency,
  items: Type.Array(ItemResponse),
  unavailable_items: Type.Array(
    Type.Object({
      ...itemFields,
      variant_id: Id,
      name: nullable(Type.String({ description: 'The last known name of the variant.' })),
      quantity: Type.Integer()
    }),
    { description: 'Items that cannot be bought in this market. No amount includes them.' }
  ),
  groups: Type.Array(GroupResponse),
  ...priceTotalResponseFieldSchemas,
  discounts: Type.Array(
    Type.Object({
      promotion_id: Id,
      name: Type.String({ description: 'Name of the promotion for buyers.' }),
      code: nullable(Type.String({ description: 'Null: the promotion applies without a code.' })),
      amount: amount('Discount on items and delivery')
    }),
    { description: 'Discounts of promotions. Catalog discounts are part of `discounted_price`.' }
  ),
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
  quote_hash: Type.String({ description: 'A hash of items and amounts. It stays the same while these do.' })
}
const fields = {
  id: Id,
  customer_id: nullable({ ...Id, description: 'Null: the checkout of a guest.' }),
  order_id: nullable({ ...Id, description: 'The order that this checkout created. Null: none.' }),
  status: Status,
  ready: Type.Boolean({
    description: 'Whether it can be completed: its status is `open` and no finding is `blocking`.'
  }),
  ...checkoutPriceResponseFieldSchemas,
  findings: Type.Array(CheckoutFindingResponse, {
    description: 'Problems and remarks for the buyer. Solve those that are `blocking`.'
  }),
  email: nullable(Type.String()),
  shipping_address: nullable(OrderAddressResponse),
  billing_address: nullable(OrderAddressResponse),
  shipping_option: nullable(Type.String({ description: 'The shipping option that the buyer chose.' })),
  codes: Type.Array(Type.String()),
  note: nullable(Type.String()),
  ...publicMetadataResponseFields,
  version: Version,
  created_at: Time,
  updated_at: Time,
  expires_at: { ...Time, description: 'When it expires, unless it is updated.' }
}
export const CheckoutResponse = response('CheckoutResponse', fields)
export type CheckoutResponse = Static<typeof CheckoutResponse>

export const NewGuestCheckoutResponse = response('NewGuestCheckoutResponse', {
  checkout_token: Type.String({
    description:
      'Proves access to the checkout. Send it as `X-Checkout-Token`. Only this response contains it.'
  }),
  ...fields
})
