import { AMOUNT_MAX } from '../../../kernel/money.ts'
import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  amount,
  Currency,
  Id,
  input,
  line,
  nullable,
  patchRequest,
  response,
  Time,
  Version
} from '../../../kernel/wire.ts'

const PERCENTAGE = 'Parts per million of the price: 100000 is 10 %.'
const Percentage = Type.Integer({ minimum: 1, maximum: 1_000_000, description: PERCENTAGE })
const AmountOff = Type.Integer({
  minimum: 1,
  maximum: AMOUNT_MAX,
  description: 'Amount off each unit, in minor units.'
})
const Scope = Type.Enum(['product', 'variant', 'category'])
// Dates that both PostgreSQL and JavaScript accept: no leap seconds, and years of four digits.
const MOMENT =
  '^[12][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9](\\.[0-9]{1,9})?(Z|[+-][0-9]{2}:[0-9]{2})$'
const Moment = Type.String({
  format: 'date-time',
  ...patternWithMessage(MOMENT, 'must be a date and time, such as 2026-03-01T08:00:00Z')
})

const fields = {
  name: line(255),
  starts_at: Type.Optional(Moment),
  ends_at: Type.Optional(nullable(Moment)),
  active: Type.Optional(Type.Boolean({ default: true }))
}
const target = {
  scope: Type.Enum(['product', 'variant', 'category'], {
    description: 'A discount on a category includes the categories below it.'
  }),
  target_id: Id
}

export const CreateDiscountRequest = Type.Union(
  [
    input({ ...fields, ...target, percentage_ppm: Percentage }),
    input({ ...fields, ...target, amount: AmountOff })
  ],
  {
    title: 'CreateDiscountRequest',
    description:
      'Either a percentage or an amount. It starts at `starts_at` (default: now) and ends before `ends_at`.'
  }
)
export type CreateDiscountRequest = Static<typeof CreateDiscountRequest>

const OFF = { percentage_ppm: Percentage, amount: AmountOff }
export const UpdateDiscountRequest = patchRequest(
  'UpdateDiscountRequest',
  { ...fields, ...OFF },
  {
    description: 'Sending `amount` for a percentage discount, or the reverse, changes the kind of discount.',
    not: { properties: OFF, required: Object.keys(OFF) }
  }
)
export type UpdateDiscountRequest = Static<typeof UpdateDiscountRequest>

export const DiscountResponse = response('DiscountResponse', {
  id: Id,
  name: Type.String(),
  scope: Scope,
  target_id: Id,
  percentage_ppm: nullable(Type.Integer()),
  amount: nullable(amount('Amount off each unit')),
  currency: Currency,
  starts_at: Time,
  ends_at: nullable(Time),
  active: Type.Boolean(),
  version: Version,
  created_at: Time
})
export type DiscountResponse = Static<typeof DiscountResponse>
