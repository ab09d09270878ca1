import {
  adminMetadataRequestFields,
  adminMetadataResponseFieldSchemas,
  metadataFilterQuery
} from '../../../kernel/metadata.ts'
import { currencyDecimalPlaces } from '../../../kernel/money.ts'
import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  Id,
  input,
  line,
  nullable,
  pageQuery,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'
import { DayOrTimestampSchema } from '../input-formats/periods.ts'
import { PROMOTIONS_PER_QUOTE_MAX, QUOTE_SIZE_LIMITS } from '../quote/size-limits.ts'

/** Maximum number of promotions without a code: a quote takes these and one per code. */
export const AUTOMATIC_PROMOTIONS_MAX = PROMOTIONS_PER_QUOTE_MAX - QUOTE_SIZE_LIMITS.codes

const PromotionClass = Type.Enum(['line', 'order', 'shipping'], {
  description:
    'What the discount applies to: each matching line, the matching lines of the order together, or each delivery.'
})
const Amounts = Type.Record(
  Type.String(
    patternWithMessage(
      `^(?:${Object.keys(currencyDecimalPlaces).join('|')})$`,
      'must be a currency, such as EUR'
    )
  ),
  Amount,
  {
    description: 'Amounts by currency. The promotion does not apply in markets with another currency.',
    minProperties: 1,
    maxProperties: Object.keys(currencyDecimalPlaces).length,
    additionalProperties: false
  }
)
const PromotionEffectRequest = Type.Union(
  [
    input({
      type: Type.Literal('percentage'),
      percentage_ppm: Type.Integer({
        description: 'Share of the remaining price in parts per million: 100000 is 10 %.',
        minimum: 1,
        maximum: 1_000_000
      })
    }),
    input({ type: Type.Literal('amount'), amounts: Amounts }),
    input({ type: Type.Literal('fixed_price'), amounts: Amounts }),
    input({ type: Type.Literal('free_shipping') })
  ],
  {
    description:
      'A percentage, an amount off each unit, order or delivery, a fixed price of a unit or delivery, or free shipping.'
  }
)
export type PromotionEffectRequest = Static<typeof PromotionEffectRequest>
const ids = (what: string) =>
  nullable(Type.Array(Id, { description: what, minItems: 1, maxItems: 1_000, uniqueItems: true }))
const Uses = Type.Integer({ minimum: 1, maximum: 1_000_000_000 })

const fields = {
  name: line(255, 'Name of the promotion for buyers.'),
  class: PromotionClass,
  priority: Type.Integer({
    description: 'Higher values apply first within a class.',
    minimum: -1_000,
    maximum: 1_000,
    default: 0
  }),
  active: Type.Boolean({ default: true, description: 'Whether it can apply.' }),
  starts_at: nullable(DayOrTimestampSchema),
  ends_at: nullable(DayOrTimestampSchema),
  markets: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
      description: 'Codes of the markets in which it applies. Null: all.',
      minItems: 1,
      maxItems: 250,
      uniqueItems: true
    })
  ),
  needs_code: Type.Boolean({ description: 'Whether it applies only with one of its codes.', default: false }),
  minimum: nullable(Amounts),
  minimum_quantity: Type.Integer({
    description: 'Minimum number of matching units.',
    minimum: 0,
    maximum: 1_000_000,
    default: 0
  }),
  product_ids: ids('Products that match. With `category_ids` null too, all products match.'),
  category_ids: ids('Categories whose products match, subcategories included.'),
  shipping_method_ids: ids('Class `shipping` only: shipping methods that match. Null: all.'),
  cheapest_only: Type.Boolean({
    description: 'Class `shipping` only: whether only the cheapest shipping option matches.',
    default: false
  }),
  first_order_only: Type.Boolean({
    default: false,
    description: 'Whether it applies only to the first order of a buyer.'
  }),
  effect: PromotionEffectRequest,
  combines: Type.Array(PromotionClass, {
    description: 'Classes of promotions that it can be combined with, its own class included if listed.',
    uniqueItems: true,
    maxItems: 3,
    default: []
  }),
  uses_max: nullable({ ...Uses, description: 'Maximum number of uses. Null: unlimited.' }),
  uses_per_customer: nullable({
    ...Uses,
    description: 'Maximum number of uses per customer. Null: unlimited.'
  })
}

/** Fields that other shop software has and this API does not, with what to use instead. */
const absent = {
  'x-absent': {
    customer_group:
      'is not supported, because customers have no groups. Set needs_code, and give the code to these customers only'
  }
}

const createRequest = request('CreatePromotionRequest', {
  name: fields.name,
  class: fields.class,
  priority: Type.Optional(fields.priority),
  active: Type.Optional(fields.active),
  starts_at: Type.Optional(fields.starts_at),
  ends_at: Type.Optional(fields.ends_at),
  markets: Type.Optional(fields.markets),
  needs_code: Type.Optional(fields.needs_code),
  minimum: Type.Optional(fields.minimum),
  minimum_quantity: Type.Optional(fields.minimum_quantity),
  product_ids: Type.Optional(fields.product_ids),
  category_ids: Type.Optional(fields.category_ids),
  shipping_method_ids: Type.Optional(fields.shipping_method_ids),
  cheapest_only: Type.Optional(fields.cheapest_only),
  first_order_only: Type.Optional(fields.first_order_only),
  effect: fields.effect,
  combines: Type.Optional(fields.combines),
  uses_max: Type.Optional(fields.uses_max),
  uses_per_customer: Type.Optional(fields.uses_per_customer),
  ...adminMetadataRequestFields
})
export const CreatePromotionRequest = { ...createRequest, ...absent }
export type CreatePromotionRequest = Static<typeof CreatePromotionRequest>
export const UpdatePromotionRequest = {
  ...patchRequest('UpdatePromotionRequest', { ...fields, ...adminMetadataRequestFields }),
  ...absent
}
export type UpdatePromotionRequest = Static<typeof UpdatePromotionRequest>

export const PromotionQuery = input({ ...metadataFilterQuery, ...pageQuery })
export type PromotionQuery = Static<typeof PromotionQuery>

const ShownAmounts = Type.Record(Type.String({ pattern: '^' }), Type.Integer())
export const PromotionResponse = response('PromotionResponse', {
  id: Id,
  name: Type.String(),
  class: PromotionClass,
  priority: Type.Integer(),
  active: Type.Boolean(),
  starts_at: nullable(Time),
  ends_at: nullable(Time),
  markets: nullable(Type.Array(Type.String())),
  needs_code: Type.Boolean(),
  minimum: nullable(ShownAmounts),
  minimum_quantity: Type.Integer(),
  product_ids: nullable(Type.Array(Id)),
  category_ids: nullable(Type.Array(Id)),
  shipping_method_ids: nullable(Type.Array(Id)),
  cheapest_only: Type.Boolean(),
  first_order_only: Type.Boolean(),
  effect: Type.Object({
    type: Type.Enum(['percentage', 'amount', 'fixed_price', 'free_shipping']),
    percentage_ppm: Type.Optional(Type.Integer()),
    amounts: Type.Optional(ShownAmounts)
  }),
  combines: Type.Array(PromotionClass),
  uses_max: nullable(Type.Integer()),
  uses_left: nullable(Type.Integer({ description: 'Number of uses that remain. Null: unlimited.' })),
  uses_per_customer: nullable(Type.Integer()),
  ...adminMetadataResponseFieldSchemas,
  version: Version,
  created_at: Time
})
export type PromotionResponse = Static<typeof PromotionResponse>

export const RedemptionResponse = response('RedemptionResponse', {
  owner: { ...Id, description: 'The order that uses the promotion.' },
  code: nullable(Type.String()),
  redeemed_at: Time
})
export type RedemptionResponse = Static<typeof RedemptionResponse>
