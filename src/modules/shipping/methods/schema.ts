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

export const SHIPPING_METHODS_PER_SHOP_MAX = 100
const POSITION_MAX = 1_000_000
const DAYS_MAX = 365

export const ShippingMethodKindSchema = Type.Enum(['shipping', 'pickup', 'digital'], {
  description:
    '`shipping`: to an address. `pickup`: collected by the buyer. `digital`: for items that require no shipping.'
})
const Days = Type.Integer({ minimum: 0, maximum: DAYS_MAX })
const ESTIMATE = { description: 'Usual days until delivery.' }
const fields = {
  provider: Type.Optional(nullable(line(255, 'Name of the carrier.'))),
  service: line(255, 'Name of the method for buyers.'),
  estimated_days: Type.Optional(nullable({ ...input({ min: Days, max: Days }), ...ESTIMATE })),
  tax_category: Type.Optional(nullable(TaxCategory)),
  active: Type.Optional(Type.Boolean({ default: true })),
  position: Type.Optional(
    Type.Integer({
      description: 'Order among methods of equal price, lowest first. Default: last.',
      minimum: 1,
      maximum: POSITION_MAX
    })
  )
}
export const CreateShippingMethodRequest = request('CreateShippingMethodRequest', {
  kind: ShippingMethodKindSchema,
  ...fields
})
export type CreateShippingMethodRequest = Static<typeof CreateShippingMethodRequest>
export const UpdateShippingMethodRequest = patchRequest('UpdateShippingMethodRequest', fields)
export type UpdateShippingMethodRequest = Static<typeof UpdateShippingMethodRequest>

export const EstimatedDeliveryDaysSchema = Type.Object({ min: Type.Integer(), max: Type.Integer() }, ESTIMATE)
export const ShippingMethodResponse = response('ShippingMethodResponse', {
  id: Id,
  kind: ShippingMethodKindSchema,
  provider: nullable(Type.String()),
  service: Type.String(),
  estimated_days: nullable(EstimatedDeliveryDaysSchema),
  tax_category: nullable(Type.String()),
  active: Type.Boolean({ description: 'Whether buyers can choose it.' }),
  position: Type.Integer(),
  missing_rates: Type.Array(
    Type.Object({
      currency: Currency,
      markets: Type.Array(Type.String(), {
        description: 'Markets of this currency, where it is not offered.'
      }),
      zone_ids: nullable(
        Type.Array(Id, {
          description: 'Zones where it has rates in other currencies only. Null: it has no zones.'
        })
      )
    }),
    { description: 'Currencies of the shop in which it has no rate.' }
  ),
  version: Version,
  created_at: Time
})
export type ShippingMethodResponse = Static<typeof ShippingMethodResponse>
