import type { Market, PricingApi } from '../../pricing/index.ts'
import { priceNow } from '../discounts/pricing.ts'
import type { Entries, Entry, Offer, Wanted } from './service.ts'

type Deps = { entries: Entries; pricing: PricingApi | undefined; currency: string }

/** See `CatalogApi.offers`: what is offered, at the prices of a market. */
export function createOffers({ entries, pricing, currency }: Deps) {
  const own = async (wanted: readonly Wanted[]) => (await entries(wanted)).map(entry => entry?.offer)

  async function priced(pricing: PricingApi, wanted: readonly Wanted[], market: Market) {
    const [found, prices] = await Promise.all([entries(wanted), pricing.prices(wanted, market)])
    return found.map((entry, index) => {
      const price = prices[index]
      if (entry === undefined) return undefined
      if (price !== undefined) return offerAt(entry, price, market.currency)
      // Prices are never converted.
      return market.currency === currency ? entry.offer : undefined
    })
  }

  return (wanted: readonly Wanted[], market: Market | null): Promise<(Offer | undefined)[]> =>
    pricing === undefined || market === null || (market.priceListId === null && market.currency === currency)
      ? own(wanted)
      : priced(pricing, wanted, market)
}

/** The offer at the price of a list. A sale price, and what is off by an amount, hold in their own currency only. */
function offerAt({ offer, salePrice, running }: Entry, price: number, currency: string): Offer {
  const isOwn = currency === offer.currency
  const discounts = isOwn ? running : running.filter(({ amount_minor }) => amount_minor === null)
  const { discountedPrice } = priceNow(price, isOwn ? salePrice : null, discounts)
  return { ...offer, price, discountedPrice, currency, json: textAt(offer.json, price, discountedPrice) }
}

/** No text within can look like a member: its quotes are escaped. */
function textAt(json: string, price: number, discountedPrice: number): string {
  const start = json.indexOf(',"price":')
  const end = json.indexOf(',"image_url":', start)
  return `${json.slice(0, start)},"price":${price},"discounted_price":${discountedPrice}${json.slice(end)}`
}
