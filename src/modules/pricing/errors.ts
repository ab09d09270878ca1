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
export const marketInUse = defineError(
  'conflict',
  'PRICING_MARKET_IN_USE',
  'A promotion holds in this market; take the market away from it first.'
)
export const marketLimit = defineError(
  'conflict',
  'PRICING_MARKET_LIMIT',
  'There are as many markets as there may be; "limit" says how many.'
)
export const priceListNotFound = defineError(
  'not_found',
  'PRICING_PRICE_LIST_NOT_FOUND',
  'There is no such price list.',
  { constraints: ['pricing.prices_list'] }
)
export const priceListStale = defineError(
  'stale',
  'PRICING_PRICE_LIST_STALE',
  'The price list was changed in the meantime; read it again.'
)
export const priceListInUse = defineError(
  'conflict',
  'PRICING_PRICE_LIST_IN_USE',
  'A market or another price list rests on this one.'
)
export const priceListLimit = defineError(
  'conflict',
  'PRICING_PRICE_LIST_LIMIT',
  'There are as many price lists as there may be; "limit" says how many.'
)
export const priceNotFound = defineError(
  'not_found',
  'PRICING_PRICE_NOT_FOUND',
  'The list has no such price.'
)
export const priceTwice = defineError(
  'invalid',
  'PRICING_PRICE_TWICE',
  'Two of the prices are for the same variant and quantity.',
  { fault: { path: 'body/prices', message: 'must have one price for each variant and quantity' } }
)
export const breakLimit = defineError(
  'conflict',
  'PRICING_BREAK_LIMIT',
  'The variant would have more prices in the list than "limit" says.'
)
export const momentInvalid = defineError(
  'invalid',
  'PRICING_MOMENT_INVALID',
  'There is no such day; "errors" says which field has it.'
)
export const promotionNotFound = defineError(
  'not_found',
  'PRICING_PROMOTION_NOT_FOUND',
  'There is no such promotion.',
  { constraints: ['pricing.codes_promotion'] }
)
export const promotionStale = defineError(
  'stale',
  'PRICING_PROMOTION_STALE',
  'The promotion was changed in the meantime; read it again.'
)
export const promotionLimit = defineError(
  'conflict',
  'PRICING_PROMOTION_LIMIT',
  'As many promotions without a code run, or will, as there may be ("limit"): put another one out of use first, or let this one need a code.'
)
export const promotionUsed = defineError(
  'conflict',
  'PRICING_PROMOTION_USED',
  'Orders use the promotion, so it stays; put it out of use instead.'
)
export const usedUp = defineError(
  'conflict',
  'PRICING_USED_UP',
  'A promotion or code has been used up; quote again to see which.',
  {
    constraints: ['pricing.budgets_uses'],
    mayPass: true
  }
)
export const promotionGone = defineError(
  'conflict',
  'PRICING_PROMOTION_GONE',
  'A promotion was deleted; quote again.',
  {
    constraints: ['pricing.redemptions_promotion'],
    mayPass: true
  }
)
export const codeNotFound = defineError(
  'not_found',
  'PRICING_CODE_NOT_FOUND',
  'The promotion has no such code.'
)
export const usesTaken = defineError(
  'conflict',
  'PRICING_USES_TAKEN',
  'It has been used more often already.',
  { fault: { path: 'body/uses_max', message: 'must not be less than it has been used' } }
)
export const customerLimit = defineError(
  'conflict',
  'PRICING_CUSTOMER_LIMIT',
  'The customer has used a promotion as often as one customer can; quote again to see which.',
  { mayPass: true }
)
export const firstOrderTaken = defineError(
  'conflict',
  'PRICING_FIRST_ORDER_TAKEN',
  'The customer has another order that counts as the first one; quote again.',
  { mayPass: true }
)
export const categoryNotFound = defineError(
  'not_found',
  'PRICING_TAX_CATEGORY_NOT_FOUND',
  'There is no such tax category.',
  { constraints: ['pricing.tax_rates_category'] }
)
export const categoryInUse = defineError(
  'conflict',
  'PRICING_TAX_CATEGORY_IN_USE',
  'The tax category has rates, or is the one of what says nothing else.'
)
export const zoneNotFound = defineError(
  'not_found',
  'PRICING_TAX_ZONE_NOT_FOUND',
  'There is no such tax zone.',
  { constraints: ['pricing.tax_rates_zone'] }
)
export const zoneInUse = defineError(
  'conflict',
  'PRICING_TAX_ZONE_IN_USE',
  'The tax zone has rates; delete them first.'
)
export const rateNotFound = defineError(
  'not_found',
  'PRICING_TAX_RATE_NOT_FOUND',
  'There is no such tax rate.'
)
export const exemptionNotFound = defineError(
  'not_found',
  'PRICING_TAX_EXEMPTION_NOT_FOUND',
  'There is no such exemption from tax.'
)
export const vatIdInvalid = defineError(
  'invalid',
  'PRICING_VAT_ID_INVALID',
  'This is not a VAT id, or its country is not in front of it.',
  {
    fault: {
      path: 'body/vat_id',
      message: 'must be a VAT id with its country in front, such as DE136695976'
    }
  }
)
export const taxStale = defineError(
  'stale',
  'PRICING_TAX_STALE',
  'It was changed in the meantime; read it again.'
)
export const taxPatternInvalid = defineError(
  'invalid',
  'PRICING_TAX_PATTERN_INVALID',
  'The postal codes of the tax zone are none; "errors" says which forms there are.'
)
export const taxRegionInvalid = defineError(
  'invalid',
  'PRICING_TAX_REGION_INVALID',
  'This is no region of the country, or too large a one; "errors" says how one is written.'
)
export const taxLimit = defineError(
  'conflict',
  'PRICING_TAX_LIMIT',
  'There are as many of these as there may be; "limit" says how many.'
)
export const importFailed = defineError(
  'invalid',
  'PRICING_IMPORT_FAILED',
  'The file was not imported, and nothing was changed; "report" says why.'
)
export const shippingOptionUnknown = defineError(
  'invalid',
  'PRICING_SHIPPING_OPTION_UNKNOWN',
  'The `shipping_option` is not one of the `shipping_options`.',
  { fault: { path: 'body/shipping_option', message: 'must be the id of one of shipping_options' } }
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
defineError('invalid', 'PRICING_ADJUSTMENT_INVALID', 'There is no parent whose prices could be adjusted.', {
  constraints: ['pricing.price_lists_adjustment'],
  fault: { path: 'body/adjustment_ppm', message: 'must be 0 without a parent' }
})
defineError(
  'conflict',
  'PRICING_PRICE_LIST_TOO_DEEP',
  'Price lists rest on each other in 5 levels at most.',
  {
    constraints: ['pricing.price_lists_depth']
  }
)
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
  'A fixed price is for lines and deliveries, and free delivery for deliveries.',
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
defineError('conflict', 'PRICING_CODE_TAKEN', 'There is such a code already.', {
  constraints: ['pricing.codes_code'],
  fault: { path: 'body/code', message: 'must not be that of another one' }
})
defineError('conflict', 'PRICING_TAX_CATEGORY_TAKEN', 'Another tax category has this code.', {
  constraints: ['pricing.tax_categories_code'],
  fault: { path: 'body/code', message: 'must not be that of another one' }
})
defineError('invalid', 'PRICING_TAX_CATEGORY_UNTAXED', 'The tax category `untaxed` takes no rates.', {
  constraints: ['pricing.tax_rates_untaxed'],
  fault: { path: 'body/category', message: 'must be a category other than untaxed' }
})
defineError('conflict', 'PRICING_TAX_ZONE_TAKEN', 'There is a tax zone of this place already.', {
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
