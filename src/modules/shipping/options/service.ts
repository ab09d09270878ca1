import { addressRegionFault } from '../../../kernel/regions.ts'
import type { WaitingRequest } from '../../../platform/idempotency/write.ts'
import type { CatalogApi, Offer } from '../../catalog/index.ts'
import type { Market } from '../../pricing/index.ts'
import { shippingDestinationRegionInvalidError, variantUnavailableError } from '../errors.ts'
import type { FetchProviderOptions } from '../provider-rates/service.ts'
import {
  listShippingOptionsOfParcel,
  type ShippingParcel,
  type ShippingRules,
  withProviderOptions
} from '../rules/options.ts'
import type { ShippingRatesRequest, ShippingRatesResponse } from './schema.ts'

type Deps = {
  catalog: Pick<CatalogApi, 'offers' | 'requireVariant'>
  rules: () => Promise<ShippingRules>
  providerOptionFetcher: () => FetchProviderOptions | undefined
  currency: string
}
type Contents = Pick<ShippingParcel, 'weightGrams' | 'valueMinor' | 'items' | 'requiresShipping'>
type ShippedItem = { readonly variant_id: string; readonly quantity: number }

/** Estimates shipping costs. */
export function createShippingEstimateService({
  catalog,
  rules: loadRules,
  providerOptionFetcher,
  currency
}: Deps) {
  /**
   * Lists options in the currency of the market. Null: in the currency of the shop.
   * @throws `SHIPPING_REGION_INVALID`, `CATALOG_VARIANT_NOT_FOUND`, `SHIPPING_VARIANT_UNAVAILABLE`,
   * `PROVIDER_REQUESTS_LIMITED`
   */
  async function list(
    body: ShippingRatesRequest,
    market: Market | null,
    request: WaitingRequest
  ): Promise<ShippingRatesResponse> {
    const { country, region, postal_code } = body.destination
    const rules = await loadRules()
    assertRegionIsClear(body.destination, rules)
    const contents = await readContents(body, market)
    const parcel = {
      destination: { country, region: region ?? undefined, postalCode: postal_code ?? undefined },
      currency: market?.currency ?? currency,
      ...contents
    }
    const own = listShippingOptionsOfParcel(rules, parcel)
    const fetchOptions = providerOptionFetcher()
    const options =
      fetchOptions === undefined ? own : withProviderOptions(own, await fetchOptions(parcel, request))
    return {
      rates: options.map(
        ({ amountMinor: amount, estimatedDays, taxCategory: _, methodId: _method, ...option }) => ({
          ...option,
          amount,
          estimated_days: estimatedDays
        })
      )
    }
  }

  async function readContents(body: ShippingRatesRequest, market: Market | null): Promise<Contents> {
    if ('items' in body) {
      const items = mergeItems(body.items)
      return sumItems(items, await offersOf(items, market))
    }
    const { weight_grams: weightGrams, value: valueMinor } = body
    return { weightGrams, valueMinor, items: 1, requiresShipping: true }
  }

  async function offersOf(items: readonly ShippedItem[], market: Market | null): Promise<Offer[]> {
    const wanted = items.map(({ variant_id, quantity }) => ({ variantId: variant_id, quantity }))
    const offers = await catalog.offers(wanted, market)
    const missing = items[offers.indexOf(undefined)]?.variant_id
    if (missing !== undefined) {
      await catalog.requireVariant(missing)
      throw variantUnavailableError({ details: { variant_id: missing } })
    }
    return offers.filter(offer => offer !== undefined)
  }

  return { list }
}
export type ShippingEstimateService = ReturnType<typeof createShippingEstimateService>

/** Validates the region if the shopper sent one. @throws `SHIPPING_REGION_INVALID` */
function assertRegionIsClear(
  { country, region }: ShippingRatesRequest['destination'],
  { regions }: ShippingRules
): void {
  const message = addressRegionFault(country, region ?? undefined, regions.get(country) ?? new Set())
  if (typeof region === 'string' && message !== undefined)
    throw shippingDestinationRegionInvalidError({
      details: { errors: [{ path: 'body/destination/region', message }] }
    })
}

/** Merges items of the same variant, because the unit price depends on the quantity. */
function mergeItems(items: readonly ShippedItem[]): ShippedItem[] {
  const quantities = new Map<string, number>()
  for (const { variant_id, quantity } of items)
    quantities.set(variant_id, (quantities.get(variant_id) ?? 0) + quantity)
  return [...quantities].map(([variant_id, quantity]) => ({ variant_id, quantity }))
}

/** Sums the items that require shipping. If none does, sums all items for digital delivery. */
function sumItems(items: readonly ShippedItem[], offers: readonly Offer[]): Contents {
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
