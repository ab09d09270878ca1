import { type Static, Type } from '../../../kernel/schema.ts'
import {
  amount,
  Currency,
  Id,
  input,
  MarketHeaders,
  nullable,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'

const QUANTITY_MAX = 1_000_000 // far above any limit of a line, which is configuration and answered 409
/** As many as an order may have. A cart that may have more is merged by several requests. */
const ITEMS_MAX = 200

const Quantity = Type.Integer({ minimum: 1, maximum: QUANTITY_MAX })

export const AddItemRequest = request('AddItemRequest', { variant_id: Id, quantity: Quantity })
export type AddItemRequest = Static<typeof AddItemRequest>

export const UpdateItemRequest = request('UpdateItemRequest', { quantity: Quantity })

export const ItemParams = input({ variantId: Id })

export const GuestHeaders = Type.Object({
  ...MarketHeaders.properties,
  'x-guest-cart-token': Type.Optional(
    Type.String({ description: 'The token that the guest cart was created with.' })
  )
})

const Strategy = Type.Enum(['sum', 'max', 'guest', 'customer'], {
  default: 'sum',
  description:
    'For variants in both carts: the sum, the larger quantity, the one of the guest, or of the customer.'
})
const strategy = Type.Optional(Strategy)
export const MergeRequest = Type.Union(
  [
    input({ guest_cart_token: Type.String({ maxLength: 256 }), strategy }),
    input({ items: Type.Array(AddItemRequest, { maxItems: ITEMS_MAX }), strategy })
  ],
  {
    title: 'MergeRequest',
    description: 'The token of a guest cart, or the items of a cart kept in the browser.'
  }
)
export type MergeRequest = Static<typeof MergeRequest>

const CartItemResponse = response('CartItemResponse', {
  variant_id: Id,
  product_id: Id,
  name: Type.String(),
  variant_name: Type.String({ description: 'Tells the variant from others of its product; may be empty.' }),
  slug: Type.String({ description: 'Of the product, for its address' }),
  sku: Type.String(),
  price: amount('Price of one'),
  discounted_price: amount('Price of one after discounts; equals price when nothing is off'),
  image_url: nullable(Type.String()),
  attributes: Type.Record(Type.String(), Type.String()),
  quantity: Type.Integer(),
  line_total: amount('discounted_price times quantity'),
  stock: nullable(
    Type.Integer({ description: 'What can still be bought; null: not counted, or any number' })
  ),
  available: Type.Boolean({ description: 'Whether just this quantity can be bought now' })
})
const UnavailableItemResponse = response('UnavailableItemResponse', {
  variant_id: Id,
  name: nullable(Type.String({ description: 'The last name that is known' })),
  quantity: Type.Integer()
})
const cartFields = {
  currency: Currency,
  items: Type.Array(CartItemResponse),
  count: Type.Integer({ description: 'Sum of all quantities, those of unavailable items included' }),
  distinct_count: Type.Integer({ description: 'Number of different variants, unavailable ones included' }),
  subtotal: amount('Sum of the items before discounts'),
  discount_total: amount('What the discounts take off'),
  total: amount('What the items cost'),
  unavailable_items: Type.Array(UnavailableItemResponse, {
    description: 'Items whose variant is gone or not for sale; they count for nothing in the amounts'
  }),
  version: Version,
  updated_at: nullable(Time)
}
export const CartResponse = response('CartResponse', { customer_id: Id, ...cartFields })

export const GuestCartResponse = response('GuestCartResponse', {
  guest_cart_token: Type.Optional(
    Type.String({ description: 'Told once, when the cart is made; send it as X-Guest-Cart-Token' })
  ),
  customer_id: Type.Null(),
  ...cartFields
})

export const CartCountResponse = response('CartCountResponse', {
  count: Type.Integer({ description: 'Total item count' }),
  distinct_count: Type.Integer()
})

const AdjustmentResponse = response('AdjustmentResponse', {
  variant_id: Id,
  requested: Type.Integer({ description: 'The quantity that the line was to have' }),
  granted: Type.Integer({ description: 'The quantity that it has' }),
  reason: Type.Enum(['unavailable', 'quantity_limit', 'quantity_rule', 'insufficient_stock', 'line_limit'])
})
export const MergeResponse = response('MergeResponse', {
  customer_id: Id,
  ...cartFields,
  merge: Type.Object({
    status: Type.Enum(['merged', 'already_merged', 'nothing_to_merge']),
    strategy: Strategy,
    moved: Type.Integer({ description: 'Lines that are new or changed' }),
    adjustments: Type.Array(AdjustmentResponse, { description: 'What limits or stock cut' })
  })
})
