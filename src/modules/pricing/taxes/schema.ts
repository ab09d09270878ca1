import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Country,
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

export const TAX_CATEGORIES_MAX = 500
export const TAX_ZONES_MAX = 5_000
export const TAX_RATES_MAX = 20_000

// The CSV import uses these patterns as well.
export const COUNTRY_CODE_REGEX = '^[A-Z]{2}$'
export const TAX_CATEGORY_CODE_REGEX = '^[a-z][a-z0-9_-]{0,63}$'
export const TAX_POSTAL_PATTERN_REGEX = '^[A-Z0-9][A-Z0-9 -]{0,14}[*]?$'

const CategoryCode = Type.String({
  description: 'Code by which variants and shipping methods name the category.',
  maxLength: 64,
  ...patternWithMessage(TAX_CATEGORY_CODE_REGEX, 'must be a word of a to z, 0 to 9, _ and -')
})
export const CreateTaxCategoryRequest = request('CreateTaxCategoryRequest', {
  code: CategoryCode,
  name: line(255)
})
export type CreateTaxCategoryRequest = Static<typeof CreateTaxCategoryRequest>
/** The code of a tax category cannot change, because variants reference the category by it. */
export const UpdateTaxCategoryRequest = patchRequest('UpdateTaxCategoryRequest', { name: line(255) })
export type UpdateTaxCategoryRequest = Static<typeof UpdateTaxCategoryRequest>
export const TaxCategoryResponse = response('TaxCategoryResponse', {
  id: Id,
  code: Type.String(),
  name: Type.String(),
  version: Version,
  created_at: Time
})
export type TaxCategoryResponse = Static<typeof TaxCategoryResponse>

const Region = line(64, 'Code or name of the region (ISO 3166-2). The part behind the hyphen is stored.')
const PostalPattern = Type.String({
  description: 'A postal code, a prefix with a star (902*), or a range (90200-90299).',
  maxLength: 16,
  ...patternWithMessage(
    TAX_POSTAL_PATTERN_REGEX,
    'must be a postal code, or its beginning and a star, such as 902*'
  )
})
const place = { country: Country, region: nullable(Region), postal_pattern: nullable(PostalPattern) }
export const CreateTaxZoneRequest = request('CreateTaxZoneRequest', {
  name: line(255),
  country: place.country,
  region: Type.Optional(place.region),
  postal_pattern: Type.Optional(place.postal_pattern)
})
export type CreateTaxZoneRequest = Static<typeof CreateTaxZoneRequest>
export const UpdateTaxZoneRequest = patchRequest('UpdateTaxZoneRequest', { name: line(255), ...place })
export type UpdateTaxZoneRequest = Static<typeof UpdateTaxZoneRequest>
export const TaxZoneResponse = response('TaxZoneResponse', {
  id: Id,
  name: Type.String(),
  country: Type.String(),
  region: nullable(Type.String()),
  postal_pattern: nullable(Type.String()),
  version: Version,
  created_at: Time
})
export type TaxZoneResponse = Static<typeof TaxZoneResponse>

const rate = {
  name: line(255, 'Name of the tax for buyers.'),
  rate_ppm: Type.Integer({
    description: 'Rate in parts per million: 190000 is 19 %.',
    minimum: 0,
    maximum: 1_000_000
  }),
  starts_at: nullable(DayOrTimestampSchema),
  ends_at: nullable(DayOrTimestampSchema)
}
export const CreateTaxRateRequest = request('CreateTaxRateRequest', {
  zone_id: Id,
  category: CategoryCode,
  name: rate.name,
  rate_ppm: rate.rate_ppm,
  starts_at: Type.Optional(rate.starts_at),
  ends_at: Type.Optional(rate.ends_at)
})
export type CreateTaxRateRequest = Static<typeof CreateTaxRateRequest>
/** Zone and category of a tax rate cannot change. */
export const UpdateTaxRateRequest = patchRequest('UpdateTaxRateRequest', rate)
export type UpdateTaxRateRequest = Static<typeof UpdateTaxRateRequest>
export const TaxRateResponse = response('TaxRateResponse', {
  id: Id,
  zone_id: Id,
  category: Type.String(),
  name: Type.String(),
  rate_ppm: Type.Integer(),
  starts_at: nullable(Time),
  ends_at: nullable(Time),
  version: Version,
  created_at: Time
})
export type TaxRateResponse = Static<typeof TaxRateResponse>

export const TaxRatesQuery = input({ ...pageQuery, zone_id: Type.Optional(Id) })
export type TaxRatesQuery = Static<typeof TaxRatesQuery>
