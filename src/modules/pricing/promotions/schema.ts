import { currencies } from '../../../kernel/money.ts'
import { matching } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Amount,
  Id,
  input,
  line,
  nullable,
  patchRequest,
  request,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'
import { DayOrMoment } from '../periods/schema.ts'
import { PROMOTIONS_MAX, QUOTE_LIMITS } from '../quote/limits.ts'

/** The most promotions without a code that are running or will: a quote takes so many, and one for each code. */
export const AUTOMATIC_MAX = PROMOTIONS_MAX - QUOTE_LIMITS.codes

const PromotionClass = Type.Enum(['line', 'order', 'shipping'], {
  description: 'What is reckoned with: each line, the matching lines together, each delivery.'
})
const Amounts = Type.Record(
  Type.String(matching(`^(?:${Object.keys(currencies).join('|')})$`, 'must be a currency, such as EUR')),
  Amount,
  {
    description: 'By currency. In a market whose currency is missing, the promotion does not hold.',
    minProperties: 1,
    maxProperties: Object.keys(currencies).length,
    additionalProperties: false
  }
)
const Effect = Type.Union(
  [
    input({
      type: Type.Literal('percentage'),
      percentage_ppm: Type.Integer({
        description: 'Parts per million of what remains: 100000 is 10 %.',
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
      'A share; an amount off each unit of a line, off the order once, or off each delivery; what a unit or a delivery costs then; or free delivery.'
  }
)
export type Effect = Static<typeof Effect>
const ids = (what: string) =>
  nullable(Type.Array(Id, { description: what, minItems: 1, maxItems: 1_000, uniqueItems: true }))
const Uses = Type.Integer({ minimum: 1, maximum: 1_000_000_000 })

const fields = {
  name: line(255, 'What shoppers read beside what it takes off.'),
  class: PromotionClass,
  priority: Type.Integer({
    description: 'The higher one comes first in its class.',
    minimum: -1_000,
    maximum: 1_000,
    default: 0
  }),
  active: Type.Boolean({ default: true }),
  starts_at: nullable(DayOrMoment),
  ends_at: nullable(DayOrMoment),
  markets: nullable(
    Type.Array(Type.String({ minLength: 1, maxLength: 32 }), {
      description: 'Codes of the markets in which it holds; null: all.',
      minItems: 1,
      maxItems: 250,
      uniqueItems: true
    })
  ),
  needs_code: Type.Boolean({ description: 'Whether it counts with one of its codes only.', default: false }),
  minimum: nullable(Amounts),
  minimum_quantity: Type.Integer({
    description: 'How many units of what it is for there must be.',
    minimum: 0,
    maximum: 1_000_000,
    default: 0
  }),
  product_ids: ids('What it is for, with category_ids; both null: everything.'),
  category_ids: ids('The products of a category and of those below it.'),
  shipping_method_ids: ids('Class `shipping` only: the shipping methods that it is for; null: all.'),
  cheapest_only: Type.Boolean({
    description:
      'Class `shipping` only: whether it is only for the cheapest shipping option that is offered.',
    default: false
  }),
  first_order_only: Type.Boolean({ default: false }),
  effect: Effect,
  combines: Type.Array(PromotionClass, {
    description: 'The classes, its own too, whose promotions may be there beside it.',
    uniqueItems: true,
    maxItems: 3,
    default: []
  }),
  uses_max: nullable({ ...Uses, description: 'How often it can be used; null: without a limit.' }),
  uses_per_customer: nullable({
    ...Uses,
    description: 'How often one customer can use it; null: without a limit.'
  })
}

/** Members that other shops have. */
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
  uses_per_customer: Type.Optional(fields.uses_per_customer)
})
export const CreatePromotionRequest = { ...createRequest, ...absent }
export type CreatePromotionRequest = Static<typeof CreatePromotionRequest>
export const UpdatePromotionRequest = { ...patchRequest('UpdatePromotionRequest', fields), ...absent }
export type UpdatePromotionRequest = Static<typeof UpdatePromotionRequest>

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
  uses_left: nullable(
    Type.Integer({ description: 'How often it can still be used; null: without a limit.' })
  ),
  uses_per_customer: nullable(Type.Integer()),
  version: Version,
  created_at: Time
})
export type PromotionResponse = Static<typeof PromotionResponse>
