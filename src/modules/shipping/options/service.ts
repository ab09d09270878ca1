import type { CatalogApi, Offer } from '../../catalog/index.ts'
import { variantUnavailable } from '../errors.ts'
import type { Parcel, ShippingOption } from '../rates/options.ts'
import type { RatesRequest, RatesResponse } from './schema.ts'

type Deps = {
  catalog: Pick<CatalogApi, 'offers' | 'requireVariant'>
  rates: () => Promise<(parcel: Parcel) => ShippingOption[]>
  currency: string
}
type Contents = Pick<Parcel, 'weightGrams' | 'valueMinor' | 'items' | 'requiresShipping'>
type Item = { readonly variant_id: string; readonly quantity: number }

/** What it would cost to send something, for whoever asks. */
export function createOptionService({ catalog, rates, currency }: Deps) {
  /** @throws `CATALOG_VARIANT_NOT_FOUND`, `SHIPPING_VARIANT_UNAVAILABLE` */
  async function list(body: RatesRequest): Promise<RatesResponse> {
    const { country, region, postal_code } = body.destination
    const [ratesOf, contents] = await Promise.all([rates(), contentsOf(body)])
    const parcel = {
      destination: { country, region: region ?? undefined, postalCode: postal_code ?? undefined },
      currency,
      ...contents
    }
    return {
      rates: ratesOf(parcel).map(({ amountMinor: amount, estimatedDays, taxCategory: _, ...option }) => ({
        ...option,
        amount,
        estimated_days: estimatedDays
      }))
    }
  }

  async function contentsOf(body: RatesRequest): Promise<Contents> {
    if ('items' in body) return contentsOfItems(body.items, await offersOf(body.items))
    const { weight_grams: weightGrams, value: valueMinor } = body
    return { weightGrams, valueMinor, items: 1, requiresShipping: true }
  }

  async function offersOf(items: readonly Item[]): Promise<Offer[]> {
    const wanted = items.map(({ variant_id, quantity }) => ({ variantId: variant_id, quantity }))
    // What it costs to send is told in the currency of the shop.
    const offers = await catalog.offers(wanted, null)
    const missing = items[offers.indexOf(undefined)]?.variant_id
    if (missing !== undefined) {
      await catalog.requireVariant(missing)
      throw variantUnavailable({ details: { variant_id: missing } })
    }
    return offers.filter(offer => offer !== undefined)
  }

  return { list }
}
export type OptionService = ReturnType<typeof createOptionService>

/** What requires no shipping is no part of a parcel, unless nothing does. */
function contentsOfItems(items: readonly Item[], offers: readonly Offer[]): Contents {
  const lines = items.map(({ quantity }, index) => ({ quantity, offer: offers[index] as Offer }))
  const shipped = lines.filter(({ offer }) => offer.requiresShipping)
  const requiresShipping = shipped.length > 0
  const sum = (of: (offer: Offer) => number) =>
    (requiresShipping ? shipped : lines).reduce(
      (total, { quantity, offer }) => total + quantity * of(offer),
      0
    )
  return {
    weightGrams: requiresShipping ? sum(({ weightGrams }) => weightGrams) : 0,
    valueMinor: sum(({ discountedPrice }) => discountedPrice),
    items: sum(() => 1),
    requiresShipping
  }
}
