import {
  adminMetadataRequestFields,
  adminMetadataResponseFieldSchemas,
  metadataFilterQuery
} from '../../../kernel/metadata.ts'
import { currencyDecimalPlaces } from '../../../kernel/money.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Currency,
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

export const PRICE_LISTS_MAX = 1_000

const Adjustment = Type.Integer({
  description:
    'Adjustment of the prices that come from the parent, in parts per million. -100000 is 10 % less.',
  minimum: -1_000_000,
  maximum: 10_000_000
})
export const PriceListQuery = input({ ...metadataFilterQuery, ...pageQuery })
export type PriceListQuery = Static<typeof PriceListQuery>

export const CreatePriceListRequest = request('CreatePricelistRequest', {
  name: line(255),
  currency: Type.Enum(Object.keys(currencyDecimalPlaces), {
    description: 'Currency code (ISO 4217), the same as the parent’s.'
  }),
  parent_id: Type.Optional(nullable(Id)),
  adjustment_ppm: Type.Optional({ ...Adjustment, default: 0 }),
  ...adminMetadataRequestFields
})
export type CreatePriceListRequest = Static<typeof CreatePriceListRequest>
/** Currency and parent cannot change, because the prices of the list depend on them. */
export const UpdatePriceListRequest = patchRequest('UpdatePricelistRequest', {
  name: line(255),
  adjustment_ppm: Adjustment,
  ...adminMetadataRequestFields
})
export type UpdatePriceListRequest = Static<typeof UpdatePriceListRequest>

export const PriceListResponse = response('PricelistResponse', {
  id: Id,
  name: Type.String(),
  currency: Currency,
  parent_id: nullable(Id),
  adjustment_ppm: Type.Integer(),
  ...adminMetadataResponseFieldSchemas,
  version: Version,
  created_at: Time
})
export type PriceListResponse = Static<typeof PriceListResponse>
