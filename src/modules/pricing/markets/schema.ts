import { currencyDecimalPlaces } from '../../../kernel/money.ts'
import { patternWithMessage } from '../../../kernel/patterns.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Country,
  Currency,
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

export const MARKETS_MAX = 250

const CODE = '^[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$'
const MarketCode = Type.String({
  description: 'Identifier of the market in requests. It cannot be changed.',
  maxLength: 32,
  ...patternWithMessage(CODE, 'must be up to 32 lower-case letters, digits, and hyphens between them')
})
export const MarketParams = input({ id: line(36, 'Id or code of the market.') })
const LOCALE = '^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}$'
const Locale = Type.String({
  description: 'Language of mails and documents (BCP 47).',
  maxLength: 30,
  ...patternWithMessage(LOCALE, 'must be a language tag, such as de or de-CH')
})
const TaxRounding = Type.Enum(['group', 'line', 'unit'], {
  description: 'What taxes are rounded for: each rate of an order (`group`), each line, or each unit.'
})
const CashRounding = Type.Integer({
  description: 'Totals are rounded to multiples of this many minor units. 1: not rounded.',
  minimum: 1,
  maximum: 10_000
})
const PricesIncludeTax = Type.Boolean({ description: 'Whether prices include tax.' })

const Exclusive = Type.Boolean({
  description:
    'True: orders to its countries use this market only. False: a request can name another market for them.'
})
const PriceListId = Type.String({
  format: 'uuid',
  description: 'Price list that replaces the catalog prices. Null: catalog prices.'
})

const fields = {
  name: line(255),
  countries: Type.Array(Country, {
    description:
      'Orders to these countries use this market. The first one is assumed while the address is unknown.',
    uniqueItems: true,
    maxItems: 250
  }),
  currency: Type.Enum(Object.keys(currencyDecimalPlaces), { description: 'Currency code (ISO 4217).' }),
  prices_include_tax: PricesIncludeTax,
  tax_rounding: TaxRounding,
  cash_rounding: CashRounding,
  locale: Locale,
  price_list_id: nullable(PriceListId),
  active: Type.Boolean({ description: 'Whether customers can buy in it.' }),
  exclusive: Exclusive
}
export const CreateMarketRequest = request('CreateMarketRequest', {
  code: MarketCode,
  name: fields.name,
  countries: fields.countries,
  currency: fields.currency,
  prices_include_tax: fields.prices_include_tax,
  tax_rounding: Type.Optional({ ...TaxRounding, default: 'group' as const }),
  cash_rounding: Type.Optional({ ...CashRounding, default: 1 }),
  locale: fields.locale,
  price_list_id: Type.Optional(fields.price_list_id),
  active: Type.Optional({ ...fields.active, default: true }),
  exclusive: Type.Optional({ ...Exclusive, default: true })
})
export type CreateMarketRequest = Static<typeof CreateMarketRequest>
/** The code of a market cannot change, because requests and orders reference the market by it. */
export const UpdateMarketRequest = patchRequest('UpdateMarketRequest', fields)
export type UpdateMarketRequest = Static<typeof UpdateMarketRequest>

const shown = {
  code: Type.String(),
  name: Type.String(),
  countries: Type.Array(Type.String()),
  currency: Currency,
  prices_include_tax: PricesIncludeTax,
  locale: Type.String(),
  is_default: Type.Boolean({ description: 'Whether it is the market for all countries without a market.' })
}
export const MarketResponse = response('MarketResponse', {
  id: Id,
  ...shown,
  tax_rounding: TaxRounding,
  cash_rounding: Type.Integer(),
  price_list_id: nullable(Id),
  active: Type.Boolean(),
  exclusive: Exclusive,
  version: Version,
  created_at: Time
})
export type MarketResponse = Static<typeof MarketResponse>

/** The public fields of a market. */
const PublicMarketResponse = response('PublicMarketResponse', shown)
export const PublicMarketsResponse = response('PublicMarketsResponse', {
  items: Type.Array(PublicMarketResponse)
})
export type PublicMarketsResponse = Static<typeof PublicMarketsResponse>
