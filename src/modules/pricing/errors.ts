import { defineError } from '../../kernel/errors.ts'

export const marketNotFound = defineError('not_found', 'PRICING_MARKET_NOT_FOUND', 'There is no such market.')
export const marketUnknown = defineError(
  'invalid',
  'PRICING_MARKET_UNKNOWN',
  'The shop has no such market; "known" lists those that it has.'
)
export const marketStale = defineError(
  'stale',
  'PRICING_MARKET_STALE',
  'The market was changed in the meantime; read it again.'
)
export const marketDefault = defineError(
  'conflict',
  'PRICING_MARKET_DEFAULT',
  'The default market stays in use, and its currency is that of the shop.'
)
export const marketLimit = defineError(
  'conflict',
  'PRICING_MARKET_LIMIT',
  'There are as many markets as there may be; "limit" says how many.'
)
export const quoteTooLarge = defineError(
  'invalid',
  'PRICING_QUOTE_TOO_LARGE',
  'This is more than one price can be made of; "what" says of what there is too much, "limit" how much there may be.'
)

// Only the database says these: nobody throws them by name.
defineError('conflict', 'PRICING_MARKET_CODE_TAKEN', 'Another market has this code.', {
  constraints: ['pricing.markets_code'],
  fault: { path: 'body/code', message: 'must not be that of another one' }
})
defineError('conflict', 'PRICING_COUNTRY_TAKEN', 'One of the countries belongs to another market.', {
  constraints: ['pricing.market_countries_pkey'],
  fault: { path: 'body/countries', message: 'must not have a country of another market' }
})
