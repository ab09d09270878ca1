import { type Static, Type } from '../../../kernel/schema.ts'

const QUANTITY_MAX = 1_000_000 // far above any limit of a line, which is configuration and answered 409
const ITEMS_MAX = 10_000

const Id = Type.String({ format: 'uuid' })
const Quantity = Type.Integer({ minimum: 1, maximum: QUANTITY_MAX })
const Amount = (description: string) =>
  Type.Integer({ description: `${description}, in minor units of the currency` })
const strict = { additionalProperties: false }

export const AddItemRequest = Type.Object(
  { variant_id: Id, quantity: Quantity },
  { ...strict, title: 'AddItemRequest' }
)
export type AddItemRequest = Static<typeof AddItemRequest>

export const UpdateItemRequest = Type.Object(
  { quantity: Quantity },
  { ...strict, title: 'UpdateItemRequest' }
)

export const ItemParams = Type.Object({ variantId: Id }, strict)

export const GuestHeaders = Type.Object({
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
    Type.Object({ guest_cart_token: Type.String({ maxLength: 256 }), strategy }, strict),
    Type.Object({ items: Type.Array(AddItemRequest, { maxItems: ITEMS_MAX }), strategy }, strict)
  ],
  {
    title: 'MergeRequest',
    description: 'The token of a guest cart, or the items of a cart kept in the browser.'
  }
)
export type MergeRequest = Static<typeof MergeRequest>

const CartItemResponse = Type.Object(
  {
    variant_id: Id,
    product_id: Id,
    name: Type.String(),
    sku: Type.String(),
    price: Amount('Price of one'),
    discounted_price: Amount('Price of one after discounts; equals price when nothing is off'),
    image_url: Type.Union([Type.String(), Type.Null()]),
    attributes: Type.Record(Type.String(), Type.String()),
    quantity: Type.Integer(),
    line_total: Amount('discounted_price times quantity'),
    stock: Type.Union([Type.Integer(), Type.Null()], {
      description: 'What can still be bought; null when not counted'
    }),
    available: Type.Boolean({ description: 'Whether the whole quantity can be bought now' })
  },
  { ...strict, title: 'CartItemResponse' }
)
const cartFields = {
  currency: Type.String({ description: 'ISO 4217' }),
  items: Type.Array(CartItemResponse),
  count: Type.Integer({ description: 'Sum of all quantities, those of unavailable items included' }),
  distinct_count: Type.Integer({ description: 'Number of different variants, unavailable ones included' }),
  subtotal: Amount('Sum of the items before discounts'),
  discount_total: Amount('What the discounts take off'),
  total: Amount('What the items cost'),
  unavailable_items: Type.Array(Type.Object({ variant_id: Id, quantity: Type.Integer() }, strict), {
    description: 'Items whose variant is gone or not for sale; they count for nothing in the amounts'
  }),
  version: Type.Integer({ description: 'Raised by every change; also the ETag' }),
  updated_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()])
}
export const CartResponse = Type.Object(
  { customer_id: Id, ...cartFields },
  { ...strict, title: 'CartResponse' }
)

export const GuestCartResponse = Type.Object(
  { customer_id: Type.Null(), ...cartFields },
  { ...strict, title: 'GuestCartResponse' }
)
export const NewGuestCartResponse = Type.Object(
  {
    guest_cart_token: Type.String({ description: 'Told this once; send it as X-Guest-Cart-Token' }),
    customer_id: Type.Null(),
    ...cartFields
  },
  { ...strict, title: 'NewGuestCartResponse' }
)

export const CartCountResponse = Type.Object(
  { count: Type.Integer({ description: 'Total item count' }), distinct_count: Type.Integer() },
  { ...strict, title: 'CartCountResponse' }
)

const AdjustmentResponse = Type.Object(
  {
    variant_id: Id,
    requested: Type.Integer({ description: 'The quantity that the line was to have' }),
    granted: Type.Integer({ description: 'The quantity that it has' }),
    reason: Type.Enum(['unavailable', 'quantity_limit', 'insufficient_stock', 'line_limit'])
  },
  strict
)
export const MergeResponse = Type.Object(
  {
    customer_id: Id,
    ...cartFields,
    merge: Type.Object(
      {
        status: Type.Enum(['merged', 'already_merged', 'nothing_to_merge']),
        strategy: Strategy,
        moved: Type.Integer({ description: 'Lines that are new or changed' }),
        adjustments: Type.Array(AdjustmentResponse, { description: 'What limits or stock cut' })
      },
      strict
    )
  },
  { ...strict, title: 'MergeResponse' }
)
