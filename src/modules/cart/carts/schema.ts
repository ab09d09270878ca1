import {
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
  MarketHeaders,
  nullable,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'

const QUANTITY_MAX = 1_000_000 // far above any configured limit of a line, which responds 409
/** The maximum number of lines of an order. A larger browser cart needs several merge requests. */
const ITEMS_MAX = 200
/** Bytes of all items of a merge request: 200 without metadata, or fewer with metadata. */
const ITEMS_BYTES_MAX = 64_000

const Quantity = Type.Integer({ minimum: 1, maximum: QUANTITY_MAX })

export const AddCartItemRequest = request('AddItemRequest', {
  variant_id: Id,
  quantity: Quantity,
  ...lineMetadataFields
})
export type AddCartItemRequest = Static<typeof AddCartItemRequest>

export const UpdateCartItemRequest = request('UpdateItemRequest', { quantity: Quantity })

export const UpdateLineRequest = patchRequest('UpdateLineRequest', {
  quantity: Quantity,
  ...lineMetadataFields
})

export const UpdateCartRequest = request('UpdateCartRequest', customerMetadataRequestFields)

export const CartVariantParams = input({ variantId: Id })
export const CartLineParams = input({ lineId: Id })

export const GuestCartHeaders = Type.Object({
  ...MarketHeaders.properties,
  'x-guest-cart-token': Type.Optional(
    Type.String({ description: 'The `guest_cart_token` of the response that created the cart.' })
  )
})

const Strategy = Type.Enum(['sum', 'max', 'guest', 'customer'], {
  default: 'sum',
  description:
    'Quantity of lines that both carts have, with one variant and equal metadata: the sum, the larger one, that of the guest, or that of the customer.'
})
const strategy = Type.Optional(Strategy)
export const CartMergeRequest = Type.Union(
  [
    input({ guest_cart_token: Type.String({ maxLength: 256 }), strategy }),
    input({
      items: Type.Array(AddCartItemRequest, { maxItems: ITEMS_MAX, 'x-bytes-max': ITEMS_BYTES_MAX }),
      strategy
    })
  ],
  {
    title: 'MergeRequest',
    description: 'Either the token of a guest cart, or items that the browser stored.'
  }
)
export type CartMergeRequest = Static<typeof CartMergeRequest>

const LineId = Type.String({
  format: 'uuid',
  description: 'Id of the line. It stays as long as the line exists.'
})
const CartItemResponse = response('CartItemResponse', {
  id: LineId,
  variant_id: Id,
  product_id: Id,
  name: Type.String(),
  variant_name: Type.String({ description: 'Name of the variant within its product. It may be empty.' }),
  slug: Type.String({ description: 'Slug of the product, for links to its page.' }),
  sku: Type.String(),
  price: amount('Unit price'),
  discounted_price: amount('Unit price after discounts; equals `price` without one'),
  image_url: nullable(Type.String()),
  attributes: Type.Record(Type.String(), Type.String()),
  quantity: Type.Integer(),
  line_total: amount('discounted_price times quantity'),
  stock: nullable(Type.Integer({ description: 'Units that can be bought. Null: stock is not counted.' })),
  available: Type.Boolean({
    description: 'Whether the quantity of the variant, in all its lines, can be bought now.'
  }),
  ...publicMetadataResponseFields
})
const UnavailableItemResponse = response('UnavailableItemResponse', {
  id: LineId,
  variant_id: Id,
  name: nullable(Type.String({ description: 'The last known name of the variant.' })),
  quantity: Type.Integer(),
  ...publicMetadataResponseFields
})
const cartFields = {
  currency: Currency,
  items: Type.Array(CartItemResponse),
  count: Type.Integer({ description: 'Units of all items, unavailable ones included.' }),
  distinct_count: Type.Integer({ description: 'Different variants, unavailable ones included.' }),
  subtotal: amount('Items before discounts'),
  discount_total: amount('Discounts on items'),
  total: amount('Items after discounts'),
  unavailable_items: Type.Array(UnavailableItemResponse, {
    description: 'Items whose variant was deleted or is not for sale. No amount includes them.'
  }),
  version: Version,
  updated_at: nullable(Time),
  ...publicMetadataResponseFields
}
export const CartResponse = response('CartResponse', { customer_id: Id, ...cartFields })

export const GuestCartResponse = response('GuestCartResponse', {
  guest_cart_token: Type.Optional(
    Type.String({
      description:
        'Proves access to the cart. Send it as `X-Guest-Cart-Token`. Only the response that creates the cart contains it.'
    })
  ),
  customer_id: Type.Null(),
  ...cartFields
})

export const CartCountResponse = response('CartCountResponse', {
  count: Type.Integer({ description: 'Units of all items.' }),
  distinct_count: Type.Integer()
})

const AdjustmentResponse = response('AdjustmentResponse', {
  variant_id: Id,
  requested: Type.Integer({ description: 'Quantity that the merge would give.' }),
  granted: Type.Integer({ description: 'Quantity in the cart.' }),
  reason: Type.Enum([
    'unavailable',
    'quantity_limit',
    'quantity_rule',
    'insufficient_stock',
    'line_limit',
    'metadata_limit'
  ]),
  metadata: Type.Record(Type.String({ pattern: '^' }), Type.String(), {
    description: 'Metadata of the line, because lines of one variant can differ in it.'
  })
})
export const CartMergeResponse = response('MergeResponse', {
  customer_id: Id,
  ...cartFields,
  merge: Type.Object({
    status: Type.Enum(['merged', 'already_merged', 'nothing_to_merge']),
    strategy: Strategy,
    moved: Type.Integer({ description: 'Items that are new or changed.' }),
    adjustments: Type.Array(AdjustmentResponse, {
      description: 'Items whose quantity limits or stock reduced.'
    })
  })
})
