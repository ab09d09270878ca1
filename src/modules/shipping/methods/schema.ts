import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Currency,
  Id,
  input,
  line,
  nullable,
  patchRequest,
  request,
  response,
  TaxCategory,
  Time,
  Version
} from '../../../kernel/wire.ts'

export const METHODS_MAX = 100
const POSITION_MAX = 1_000_000
const DAYS_MAX = 365

export const MethodKind = Type.Enum(['shipping', 'pickup', 'digital'], {
  description:
    'Sent to an address, picked up, or, for what requires no shipping, delivered without anything being sent.'
})
const Days = Type.Integer({ minimum: 0, maximum: DAYS_MAX })
const ESTIMATE = { description: 'In how many days it usually arrives.' }
const fields = {
  provider: Type.Optional(nullable(line(255, 'Who carries it.'))),
  service: line(255, 'What shoppers read.'),
  estimated_days: Type.Optional(nullable({ ...input({ min: Days, max: Days }), ...ESTIMATE })),
  tax_category: Type.Optional(nullable(TaxCategory)),
  active: Type.Optional(Type.Boolean({ default: true })),
  position: Type.Optional(
    Type.Integer({
      description: 'Of methods that cost the same the lowest comes first; by default behind all others.',
      minimum: 1,
      maximum: POSITION_MAX
    })
  )
}
export const CreateMethodRequest = request('CreateShippingMethodRequest', { kind: MethodKind, ...fields })
export type CreateMethodRequest = Static<typeof CreateMethodRequest>
export const UpdateMethodRequest = patchRequest('UpdateShippingMethodRequest', fields)
export type UpdateMethodRequest = Static<typeof UpdateMethodRequest>

export const EstimatedDays = Type.Object({ min: Type.Integer(), max: Type.Integer() }, ESTIMATE)
export const MethodResponse = response('ShippingMethodResponse', {
  id: Id,
  kind: MethodKind,
  provider: nullable(Type.String()),
  service: Type.String(),
  estimated_days: nullable(EstimatedDays),
  tax_category: nullable(Type.String()),
  active: Type.Boolean({ description: 'Whether it is offered.' }),
  position: Type.Integer(),
  missing_rates: Type.Array(
    Type.Object({
      currency: Currency,
      markets: Type.Array(Type.String(), { description: 'Whoever buys in these is not offered it.' }),
      zone_ids: nullable(
        Type.Array(Id, { description: 'Where it has rates in other currencies; null: it has no zones.' })
      )
    }),
    { description: 'Currencies in which the shop sells, and in which it has no rate.' }
  ),
  version: Version,
  created_at: Time
})
export type MethodResponse = Static<typeof MethodResponse>
