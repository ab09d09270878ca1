import {
  ANYWHERE,
  type Area,
  compareReach,
  type Destination,
  placeOf,
  type Reach,
  reaching,
  regionsNamed
} from '../../../kernel/areas.ts'
import { derivedId } from '../../../kernel/ids.ts'

/** How something reaches the buyer. */
export type Kind = 'shipping' | 'pickup' | 'digital'

export type Zone = { readonly id: string; readonly areas: readonly Area[] }
export type Method = {
  readonly id: string
  readonly kind: Kind
  /** Who carries it. */
  readonly provider: string | null
  readonly service: string
  readonly estimatedDays: Days | null
  readonly taxCategory: string | null
  readonly position: number
}
type Days = { readonly min: number; readonly max: number }
/** What a method costs in a zone; one of kind `shipping` has a zone, and no other one. */
export type Rate = {
  readonly methodId: string
  readonly zoneId: string | null
  readonly currency: string
  /** An amount for any parcel, or one by weight, value or number of items. */
  readonly price: number | Table
  /** From this value on it costs nothing. */
  readonly freeFromMinor: number | null
}
export type Table = { readonly by: 'weight' | 'value' | 'items'; readonly steps: readonly Step[] }
/** Up to and with so many grams, minor units or items; `null`: however many. */
export type Step = { readonly upTo: number | null; readonly amountMinor: number }

/** What is to be sent together. Weight, value and items are those of what has to be shipped, if anything has to. */
export type Parcel = {
  /** Null: not known; then only what costs the same everywhere is offered. */
  readonly destination: Destination | null
  readonly weightGrams: number
  readonly valueMinor: number
  readonly items: number
  readonly currency: string
  readonly requiresShipping: boolean
}

/** A way to send it. `id` is a choice, of method and zone: it stays when the price changes. */
export type ShippingOption = {
  readonly id: string
  readonly methodId: string
  readonly method: Kind
  readonly provider: string | null
  readonly service: string
  readonly amountMinor: number
  readonly currency: string
  readonly estimatedDays: Days | null
  readonly taxCategory: string | null
}

/** A method and its rates of one zone, or of none, by their currency. */
type Offer = { readonly id: string; readonly method: Method; readonly rates: ReadonlyMap<string, Rate> }
type PreparedArea = { readonly zoneId: string; readonly reachFor: ReturnType<typeof reaching> }
/** All rules, as they are asked: areas by country, offers by zone. */
export type Rules = {
  /** The regions that areas name, by country. */
  readonly regions: ReadonlyMap<string, ReadonlySet<string>>
  readonly areas: ReadonlyMap<string, readonly PreparedArea[]>
  readonly offers: ReadonlyMap<string | null, readonly Offer[]>
}

/** Of methods that are in use. */
export function rulesOf(zones: readonly Zone[], methods: readonly Method[], rates: readonly Rate[]): Rules {
  const areas = zones.flatMap(({ id, areas }) =>
    areas.map(area => ({ country: area.country, zoneId: id, reachFor: reaching(area) }))
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
    regions: new Map([...allAreas].map(([country, areas]) => [country, regionsNamed(areas)])),
    areas: Map.groupBy(areas, ({ country }) => country),
    offers: Map.groupBy(offers, ({ zoneId }) => zoneId)
  }
}

/**
 * The ways to send a parcel, cheapest first, and at the same price in the order of the methods. The destination lies in
 * one zone, the one that says most about it; a method without a rate there is none of them.
 */
export function ratesOf(rules: Rules, parcel: Parcel): ShippingOption[] {
  const zoneId = parcel.destination === null ? undefined : zoneAt(rules, parcel.destination)
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

function zoneAt({ areas }: Rules, destination: Destination): string | undefined {
  const place = placeOf(destination)
  let nearest: { reach: Reach; zoneId: string } | undefined
  for (const { zoneId, reachFor } of [...(areas.get(place.country) ?? []), ...(areas.get(ANYWHERE) ?? [])]) {
    const reach = reachFor(place)
    if (reach !== undefined && (nearest === undefined || compareReach(reach, nearest.reach) < 0))
      nearest = { reach, zoneId }
  }
  return nearest?.zoneId
}

function optionOf({ id, method, rates }: Offer, parcel: Parcel) {
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

/** `undefined` for a parcel beyond the table, however much it is worth. */
function amountOf({ price, freeFromMinor }: Rate, parcel: Parcel): number | undefined {
  const amount = typeof price === 'number' ? price : amountIn(price, parcel)
  const isFree = freeFromMinor !== null && parcel.valueMinor >= freeFromMinor
  return amount === undefined ? undefined : isFree ? 0 : amount
}

function amountIn({ by, steps }: Table, { weightGrams, valueMinor, items }: Parcel): number | undefined {
  const measure = { weight: weightGrams, value: valueMinor, items }[by]
  return steps.find(({ upTo }) => upTo === null || measure <= upTo)?.amountMinor
}
