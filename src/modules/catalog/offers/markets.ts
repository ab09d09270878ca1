import type { Market, PricingApi } from '../../pricing/index.ts'
import { variantPriceInCurrency } from '../discounts/pricing.ts'
import type { CachedVariantOffer, Offer, VariantOfferCache, VariantQuantity } from './service.ts'

type Deps = { entries: VariantOfferCache; pricing: PricingApi | undefined; currency: string }

/** Implements `CatalogApi.offers`: offers at the prices of a market. */
export function createMarketOfferReader({ entries, pricing, currency }: Deps) {
  const offersAtOwnPrices = async (wanted: readonly VariantQuantity[]) =>
    (await entries(wanted)).map(entry => entry?.offer)

  async function offersAtListPrices(pricing: PricingApi, wanted: readonly VariantQuantity[], market: Market) {
    const [found, prices] = await Promise.all([entries(wanted), pricing.prices(wanted, market)])
    return found.map((entry, index) => {
      const listed = prices[index]
      const isOwn = listed === undefined && market.currency === currency
      return isOwn ? entry?.offer : entry && offerIn(entry, listed, market.currency)
    })
  }

  return (wanted: readonly VariantQuantity[], market: Market | null): Promise<(Offer | undefined)[]> =>
    pricing === undefined || market === null || isMarketPricedByCatalog(market, currency)
      ? offersAtOwnPrices(wanted)
      : offersAtListPrices(pricing, wanted, market)
}

/** Whether a market uses the catalog's own prices in the currency of the shop. */
export const isMarketPricedByCatalog = (
  { priceListId, currency: there }: Market,
  currency: string
): boolean => priceListId === null && there === currency

/** Returns the offer at the price of a market; see `variantPriceInCurrency`. */
function offerIn(
  { offer, salePrice, running, priceStart, discountedPriceEnd }: CachedVariantOffer,
  listed: number | undefined,
  currency: string
): Offer | undefined {
  const own = { currency: offer.currency, price: offer.price, salePrice, discounts: running }
  const priced = variantPriceInCurrency(own, listed, currency)
  if (priced === undefined) return undefined
  const { price, discountedPrice } = priced
  return {
    variantId: offer.variantId,
    price,
    discountedPrice,
    currency,
    rule: offer.rule,
    weightGrams: offer.weightGrams,
    requiresShipping: offer.requiresShipping,
    json: `${offer.json.slice(0, priceStart)}${price},"discounted_price":${discountedPrice}${offer.json.slice(discountedPriceEnd)}`
  }
}
