import {
  ANY_COUNTRY,
  compareAreaSizes,
  createAreaMatcher,
  type DeliveryArea,
  type DeliveryAreaSize,
  type DeliveryDestination,
  regionsOfAreas,
  toMatchableDestination
} from '../../../kernel/areas.ts'
import { derivedId } from '../../../kernel/ids.ts'

/** How an order reaches the buyer. */
export type ShippingMethodKind = 'shipping' | 'pickup' | 'digital'

export type ShippingZone = { readonly id: string; readonly areas: readonly DeliveryArea[] }
export type ShippingMethod = {
  readonly id: string
  readonly kind: ShippingMethodKind
  /** Name of the carrier. */
  readonly provider: string | null
  readonly service: string
  readonly estimatedDays: DeliveryDays | null
  readonly taxCategory: string | null
  readonly position: number
}
type DeliveryDays = { readonly min: number; readonly max: number }
/** Price of a method in a zone. Only rates of kind `shipping` have a zone. */
export type ShippingRate = {
  readonly methodId: string
  readonly zoneId: string | null
  readonly currency: string
  /** A fixed amount in minor units, or a table by weight, value or number of items. */
  readonly price: number | ShippingPriceTable
  /** Value of the goods from which shipping is free. */
  readonly freeFromMinor: number | null
}
export type ShippingPriceTable = {
  readonly by: 'weight' | 'value' | 'items'
  readonly steps: readonly ShippingPriceStep[]
}
/** `upTo` is inclusive, in grams, minor units or items. Null: no bound. */
export type ShippingPriceStep = { readonly upTo: number | null; readonly amountMinor: number }

/**
 * A parcel: goods that are shipped together. Weight, value and items count only items that require shipping,
 * if there are any.
 */
export type ShippingParcel = {
  /** Null: not known. Then only options without a zone are listed. */
  readonly destination: DeliveryDestination | null
  readonly weightGrams: number
  readonly valueMinor: number
  readonly items: number
  readonly currency: string
  readonly requiresShipping: boolean
}

/**
 * A shipping option of a parcel. `id` identifies method and zone, or provider and service, so it stays when the price
 * changes. `provider`: the name of the carrier for buyers.
 */
export type ShippingOption = {
  readonly id: string
  readonly methodId: string
  readonly method: ShippingMethodKind
  readonly provider: string | null
  readonly service: string
  readonly amountMinor: number
  readonly currency: string
  readonly estimatedDays: DeliveryDays | null
  readonly taxCategory: string | null
}

/** A method with its rates in one zone, or without a zone, by currency. */
type ZonedMethod = {
  readonly id: string
  readonly method: ShippingMethod
  readonly rates: ReadonlyMap<string, ShippingRate>
}
type IndexedArea = { readonly zoneId: string; readonly reachFor: ReturnType<typeof createAreaMatcher> }
/** The shipping rules, indexed: areas by country, methods by zone. */
export type ShippingRules = {
  /** The regions that areas name, by country. */
  readonly regions: ReadonlyMap<string, ReadonlySet<string>>
  readonly areas: ReadonlyMap<string, readonly IndexedArea[]>
  readonly offers: ReadonlyMap<string | null, readonly ZonedMethod[]>
}

/** Indexes rules. `methods` are the active ones. */
export function indexShippingRules(
  zones: readonly ShippingZone[],
  methods: readonly ShippingMethod[],
  rates: readonly ShippingRate[]
): ShippingRules {
  const areas = zones.flatMap(({ id, areas }) =>
    areas.map(area => ({ country: area.country, zoneId: id, reachFor: createAreaMatcher(area) }))
  )
  const inOrder = methods.toSorted((a, b) => a.position - b.position || (a.id < b.id ? -1 : 1))
  const ratesOfMethod = Map.groupBy(rates, ({ methodId }) => methodId)
  const offers = inOrder.flatMap(method =>
    [...Map.groupBy(ratesOfMethod.get(method.id) ?? [], ({ zoneId }) => zoneId)].map(([zoneId, own]) => ({
      zoneId,
      id: zoneId === null ? method.id : derivedId(method.id, zoneId),
      method,
      rates: new Map(own.map(rate => [rate.currency, rate]))
    }))
  )
  const allAreas = Map.groupBy(
    zones.flatMap(zone => zone.areas),
    ({ country }) => country
  )
  return {
    regions: new Map([...allAreas].map(([country, areas]) => [country, regionsOfAreas(areas)])),
    areas: Map.groupBy(areas, ({ country }) => country),
    offers: Map.groupBy(offers, ({ zoneId }) => zoneId)
  }
}

/**
 * Lists the options of a parcel, cheapest first, with equal prices in the order of the methods. The destination belongs to the
 * zone with the most specific area. Methods without a rate there are left out.
 */
export function listShippingOptionsOfParcel(rules: ShippingRules, parcel: ShippingParcel): ShippingOption[] {
  const zoneId = parcel.destination === null ? undefined : findZone(rules, parcel.destination)
  const offers = [
    ...(rules.offers.get(null) ?? []),
    ...(zoneId === undefined ? [] : (rules.offers.get(zoneId) ?? []))
  ]
  return offers
    .filter(({ method }) => (method.kind === 'digital') !== parcel.requiresShipping)
    .flatMap(offer => optionOf(offer, parcel) ?? [])
    .sort(
      (a, b) =>
        a.option.amountMinor - b.option.amountMinor ||
        a.position - b.position ||
        (a.option.id < b.option.id ? -1 : 1)
    )
    .map(({ option }) => option)
}

/** Adds the options of providers to a parcel's own options: cheapest first, with equal prices its own first. */
export const withProviderOptions = (
  own: readonly ShippingOption[],
  ofProviders: readonly ShippingOption[]
): ShippingOption[] => [...own, ...ofProviders].sort((a, b) => a.amountMinor - b.amountMinor)

function findZone({ areas }: ShippingRules, destination: DeliveryDestination): string | undefined {
  const place = toMatchableDestination(destination)
  let nearest: { reach: DeliveryAreaSize; zoneId: string } | undefined
  for (const { zoneId, reachFor } of [
    ...(areas.get(place.country) ?? []),
    ...(areas.get(ANY_COUNTRY) ?? [])
  ]) {
    const reach = reachFor(place)
    if (reach !== undefined && (nearest === undefined || compareAreaSizes(reach, nearest.reach) < 0))
      nearest = { reach, zoneId }
  }
  return nearest?.zoneId
}

function optionOf({ id, method, rates }: ZonedMethod, parcel: ShippingParcel) {
  const rate = rates.get(parcel.currency)
  const amountMinor = rate && amountOf(rate, parcel)
  if (amountMinor === undefined) return undefined
  const { id: methodId, kind, provider, service, estimatedDays, taxCategory, position } = method
  const { currency } = parcel
  const option: ShippingOption = {
    id,
    methodId,
    method: kind,
    provider,
    service,
    amountMinor,
    currency,
    estimatedDays,
    taxCategory
  }
  return { option, position }
}

/** Returns `undefined` for a parcel beyond the last bound of the table, even if shipping would be free. */
function amountOf({ price, freeFromMinor }: ShippingRate, parcel: ShippingParcel): number | undefined {
  const amount = typeof price === 'number' ? price : amountIn(price, parcel)
  const isFree = freeFromMinor !== null && parcel.valueMinor >= freeFromMinor
  return amount === undefined ? undefined : isFree ? 0 : amount
}

function amountIn(
  { by, steps }: ShippingPriceTable,
  { weightGrams, valueMinor, items }: ShippingParcel
): number | undefined {
  const measure = { weight: weightGrams, value: valueMinor, items }[by]
  return steps.find(({ upTo }) => upTo === null || measure <= upTo)?.amountMinor
}
