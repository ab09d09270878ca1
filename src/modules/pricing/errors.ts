import { defineError } from '../../kernel/errors.ts'

export const marketNotFoundError = defineError(
  'not_found',
  'PRICING_MARKET_NOT_FOUND',
  'There is no such market.'
)
export const marketUnknownError = defineError(
  'invalid',
  'PRICING_MARKET_UNKNOWN',
  'The shop has no such market; "known" lists those that it has.'
)
export const marketStaleError = defineError(
  'stale',
  'PRICING_MARKET_STALE',
  'The market has changed since it was read. Read it again.'
)
export const defaultMarketProtectedError = defineError(
  'conflict',
  'PRICING_MARKET_DEFAULT',
  'The default market stays active, and its currency is the currency of the shop.'
)
export const marketInUseError = defineError(
  'conflict',
  'PRICING_MARKET_IN_USE',
  'A promotion is limited to this market. Remove the market from the promotion first.'
)
export const marketLimitReachedError = defineError(
  'conflict',
  'PRICING_MARKET_LIMIT',
  'The maximum number of markets is reached; see "limit".'
)
export const priceListNotFoundError = defineError(
  'not_found',
  'PRICING_PRICE_LIST_NOT_FOUND',
  'There is no such price list.',
  { constraints: ['pricing.prices_list'] }
)
export const priceListStaleError = defineError(
  'stale',
  'PRICING_PRICE_LIST_STALE',
  'The price list has changed since it was read. Read it again.'
)
export const priceListInUseError = defineError(
  'conflict',
  'PRICING_PRICE_LIST_IN_USE',
  'A market or another price list uses this price list.'
)
export const priceListLimitReachedError = defineError(
  'conflict',
  'PRICING_PRICE_LIST_LIMIT',
  'The maximum number of price lists is reached; see "limit".'
)
export const priceNotFoundError = defineError(
  'not_found',
  'PRICING_PRICE_NOT_FOUND',
  'The list has no such price.'
)
export const duplicatePriceError = defineError(
  'invalid',
  'PRICING_PRICE_TWICE',
  'Two of the prices are for the same variant and quantity.',
  { fault: { path: 'body/prices', message: 'must have one price for each variant and quantity' } }
)
export const priceBreakLimitReachedError = defineError(
  'conflict',
  'PRICING_BREAK_LIMIT',
  'The variant would have more prices in the list than "limit" allows.'
)
export const validityPeriodDateInvalidError = defineError(
  'invalid',
  'PRICING_MOMENT_INVALID',
  'A date does not exist; "errors" names the field.'
)
export const promotionNotFoundError = defineError(
  'not_found',
  'PRICING_PROMOTION_NOT_FOUND',
  'There is no such promotion.',
  { constraints: ['pricing.codes_promotion'] }
)
export const promotionStaleError = defineError(
  'stale',
  'PRICING_PROMOTION_STALE',
  'The promotion has changed since it was read. Read it again.'
)
export const automaticPromotionLimitReachedError = defineError(
  'conflict',
  'PRICING_PROMOTION_LIMIT',
  'The maximum number of promotions without a code is reached ("limit"). Deactivate another one first, or set `needs_code`.'
)
export const promotionUsedByOrdersError = defineError(
  'conflict',
  'PRICING_PROMOTION_USED',
  'Orders use the promotion. Deactivate it instead.'
)
export const promotionUsedUpError = defineError(
  'conflict',
  'PRICING_USED_UP',
  'A promotion or code has reached its usage limit. Quote again to see which.',
  {
    constraints: ['pricing.usage_limits_uses'],
    mayPass: true
  }
)
export const promotionDeletedError = defineError(
  'conflict',
  'PRICING_PROMOTION_GONE',
  'A promotion was deleted. Quote again.',
  {
    constraints: ['pricing.redemptions_promotion'],
    mayPass: true
  }
)
export const promotionCodeNotFoundError = defineError(
  'not_found',
  'PRICING_CODE_NOT_FOUND',
  'The promotion has no such code.'
)
export const usageLimitBelowUsesError = defineError(
  'conflict',
  'PRICING_USES_TAKEN',
  'It has already been used more often than this limit.',
  { fault: { path: 'body/uses_max', message: 'must not be less than it has been used' } }
)
export const customerUsageLimitReachedError = defineError(
  'conflict',
  'PRICING_CUSTOMER_LIMIT',
  'The customer has reached the usage limit of a promotion. Quote again to see which.',
  { mayPass: true }
)
export const firstOrderAlreadyPlacedError = defineError(
  'conflict',
  'PRICING_FIRST_ORDER_TAKEN',
  'The customer already has a first order. Quote again.',
  { mayPass: true }
)
export const taxCategoryNotFoundError = defineError(
  'not_found',
  'PRICING_TAX_CATEGORY_NOT_FOUND',
  'There is no such tax category.',
  { constraints: ['pricing.tax_rates_category'] }
)
export const taxCategoryInUseError = defineError(
  'conflict',
  'PRICING_TAX_CATEGORY_IN_USE',
  'The tax category has rates or is built in.'
)
export const taxZoneNotFoundError = defineError(
  'not_found',
  'PRICING_TAX_ZONE_NOT_FOUND',
  'There is no such tax zone.',
  { constraints: ['pricing.tax_rates_zone'] }
)
export const taxZoneInUseError = defineError(
  'conflict',
  'PRICING_TAX_ZONE_IN_USE',
  'The tax zone has rates. Delete them first.'
)
export const taxRateNotFoundError = defineError(
  'not_found',
  'PRICING_TAX_RATE_NOT_FOUND',
  'There is no such tax rate.'
)
export const taxExemptionNotFoundError = defineError(
  'not_found',
  'PRICING_TAX_EXEMPTION_NOT_FOUND',
  'There is no such tax exemption.'
)
export const vatIdInvalidError = defineError(
  'invalid',
  'PRICING_VAT_ID_INVALID',
  'The VAT id is invalid or lacks its country prefix.',
  {
    fault: {
      path: 'body/vat_id',
      message: 'must be a VAT id with its country in front, such as DE136695976'
    }
  }
)
export const taxRecordStaleError = defineError(
  'stale',
  'PRICING_TAX_STALE',
  'It has changed since it was read. Read it again.'
)
export const taxPostalPatternInvalidError = defineError(
  'invalid',
  'PRICING_TAX_PATTERN_INVALID',
  'The postal code pattern is invalid; "errors" lists the valid forms.'
)
export const taxRegionInvalidError = defineError(
  'invalid',
  'PRICING_TAX_REGION_INVALID',
  'The region is unknown or too large; "errors" shows the valid form.'
)
export const taxRecordLimitReachedError = defineError(
  'conflict',
  'PRICING_TAX_LIMIT',
  'The maximum number is reached; see "limit".'
)
export const pricingImportFailedError = defineError(
  'invalid',
  'PRICING_IMPORT_FAILED',
  'The file was not imported, and nothing changed. Correct the errors in "report".'
)
export const shippingOptionUnknownError = defineError(
  'invalid',
  'PRICING_SHIPPING_OPTION_UNKNOWN',
  'The `shipping_option` is not one of the `shipping_options`.',
  { fault: { path: 'body/shipping_option', message: 'must be the id of one of shipping_options' } }
)
export const quoteTooLargeError = defineError(
  'invalid',
  'PRICING_QUOTE_TOO_LARGE',
  'The basket is too large for one quote: "what" names the exceeded part, "limit" its maximum.'
)

// Errors that only constraints of the database raise.
defineError('conflict', 'PRICING_MARKET_CODE_TAKEN', 'Another market has this code.', {
  constraints: ['pricing.markets_code'],
  fault: { path: 'body/code', message: 'must not be the code of another market' }
})
defineError(
  'invalid',
  'PRICING_MARKET_LIST_INVALID',
  'There is no such price list in the currency of the market.',
  {
    constraints: ['pricing.markets_price_list'],
    fault: { path: 'body/price_list_id', message: 'must be a price list in the currency of the market' }
  }
)
defineError('invalid', 'PRICING_PARENT_LIST_INVALID', 'There is no such price list in this currency.', {
  constraints: ['pricing.price_lists_parent'],
  fault: { path: 'body/parent_id', message: 'must be a price list in the same currency' }
})
defineError('invalid', 'PRICING_ADJUSTMENT_INVALID', 'An adjustment requires a parent list.', {
  constraints: ['pricing.price_lists_adjustment'],
  fault: { path: 'body/adjustment_ppm', message: 'must be 0 without a parent' }
})
defineError('conflict', 'PRICING_PRICE_LIST_TOO_DEEP', 'Price lists can be nested in at most 5 levels.', {
  constraints: ['pricing.price_lists_depth']
})
defineError('invalid', 'PRICING_PROMOTION_MARKET_UNKNOWN', 'There is no market with one of these codes.', {
  constraints: ['pricing.promotion_markets_market'],
  fault: { path: 'body/markets', message: 'must be codes of markets' }
})
defineError('invalid', 'PRICING_PERIOD_INVALID', 'It must end after it starts.', {
  constraints: ['pricing.promotions_period', 'pricing.tax_rates_period', 'pricing.exemptions_period'],
  fault: { path: 'body/ends_at', message: 'must be after the start' }
})
defineError(
  'invalid',
  'PRICING_EFFECT_INVALID',
  'The effect `fixed_price` requires class `line` or `shipping`, and `free_shipping` requires class `shipping`.',
  {
    constraints: ['pricing.promotions_effect'],
    fault: { path: 'body/effect', message: 'must be one that the class of the promotion can have' }
  }
)
defineError(
  'invalid',
  'PRICING_PROMOTION_SHIPPING_ONLY',
  'Only promotions of class `shipping` have `shipping_method_ids` and `cheapest_only`.',
  {
    constraints: ['pricing.promotions_shipping'],
    fault: { path: 'body/class', message: 'must be shipping with shipping_method_ids or cheapest_only' }
  }
)
defineError('conflict', 'PRICING_CODE_TAKEN', 'The code already exists.', {
  constraints: ['pricing.codes_code'],
  fault: { path: 'body/code', message: 'must not be the code of another promotion' }
})
defineError('conflict', 'PRICING_TAX_CATEGORY_TAKEN', 'Another tax category has this code.', {
  constraints: ['pricing.tax_categories_code'],
  fault: { path: 'body/code', message: 'must not be the code of another tax category' }
})
defineError('invalid', 'PRICING_TAX_CATEGORY_UNTAXED', 'The tax category `untaxed` takes no rates.', {
  constraints: ['pricing.tax_rates_untaxed'],
  fault: { path: 'body/category', message: 'must be a category other than untaxed' }
})
defineError('conflict', 'PRICING_TAX_ZONE_TAKEN', 'There is already a tax zone of this place.', {
  constraints: ['pricing.tax_zones_place']
})
defineError(
  'conflict',
  'PRICING_TAX_RATE_OVERLAP',
  'The zone has another rate of this category at that time.',
  {
    constraints: ['pricing.tax_rates_overlap'],
    fault: { path: 'body/starts_at', message: 'must not be while another rate of the category holds' }
  }
)
defineError('conflict', 'PRICING_COUNTRY_TAKEN', 'One of the countries belongs to another market.', {
  constraints: ['pricing.market_countries_pkey'],
  fault: { path: 'body/countries', message: 'must not have a country of another market' }
})
