import type { Market, PricingApi } from '../../pricing/index.ts'
import { priceIn } from '../discounts/pricing.ts'
import type { Entries, Entry, Offer, Wanted } from './service.ts'

type Deps = { entries: Entries; pricing: PricingApi | undefined; currency: string }

/** See `CatalogApi.offers`: what is offered, at the prices of a market. */
export function createOffers({ entries, pricing, currency }: Deps) {
  const own = async (wanted: readonly Wanted[]) => (await entries(wanted)).map(entry => entry?.offer)

  async function priced(pricing: PricingApi, wanted: readonly Wanted[], market: Market) {
    const [found, prices] = await Promise.all([entries(wanted), pricing.prices(wanted, market)])
    return found.map((entry, index) => {
      const listed = prices[index]
      const isOwn = listed === undefined && market.currency === currency
      return isOwn ? entry?.offer : entry && offerIn(entry, listed, market.currency)
    })
  }

  return (wanted: readonly Wanted[], market: Market | null): Promise<(Offer | undefined)[]> =>
    pricing === undefined || market === null || hasOwnPrices(market, currency)
      ? own(wanted)
      : priced(pricing, wanted, market)
}

/** Whether the catalog's own prices, in the currency of the shop, are those of a market. */
export const hasOwnPrices = ({ priceListId, currency: there }: Market, currency: string): boolean =>
  priceListId === null && there === currency

/** The offer in a market; see `priceIn`. */
function offerIn(
  { offer, salePrice, running, before, behind }: Entry,
  listed: number | undefined,
  currency: string
): Offer | undefined {
  const own = { currency: offer.currency, price: offer.price, salePrice, discounts: running }
  const priced = priceIn(own, listed, currency)
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
    json: `${before}${price},"discounted_price":${discountedPrice}${behind}`
  }
}
