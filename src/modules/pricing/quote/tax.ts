import {
  ANYWHERE,
  compareReach,
  type Destination,
  placeOf,
  reaching,
  readArea
} from '../../../kernel/areas.ts'
import { shareOf, withoutShare } from '../../../kernel/money.ts'
import { allocate } from './allocate.ts'
import { type Component, sumOf } from './components.ts'
import type { Buyer, Market, QuoteGroup, QuoteInput, TaxRate, TaxRounding, TaxZone } from './input.ts'
import { destinationOf, type Target } from './targets.ts'

type Taxable = { readonly target: Target; readonly taxCategory: string; readonly ratePpm: number }
/** What tax on an amount is. */
type TaxOn = (amountMinor: number, ratePpm: number) => number

/** The tax of everything that has a rate, in the order of the targets. A rate of zero is one, too. */
export function taxOf(targets: readonly Target[], input: QuoteInput): Component[] {
  const { market, buyer } = input
  const rateOf = openRates(input)
  const taxables = targets.flatMap((target): Taxable[] => {
    const { taxCategory } = target
    const ratePpm = taxCategory === null ? undefined : rateOf(target.group, taxCategory)
    return taxCategory === null || ratePpm === undefined ? [] : [{ target, taxCategory, ratePpm }]
  })
  const taxOn = market.pricesIncludeTax ? includedTax : shareOf
  const taxes = ROUNDINGS[market.taxRounding](taxables, taxOn)
  return taxables.flatMap((taxable, index) => componentsOf(taxable, taxes[index] ?? 0, market, buyer))
}

function componentsOf(
  { target: { of, leftMinor }, taxCategory, ratePpm }: Taxable,
  taxMinor: number,
  { pricesIncludeTax }: Market,
  { exemption }: Buyer
): Component[] {
  const rate = { kind: 'tax', ...of, ratePpm, taxCategory } as const
  if (!pricesIncludeTax) {
    const tax = { ...rate, baseMinor: leftMinor, included: false }
    return [
      exemption === null ? { ...tax, amountMinor: taxMinor } : { ...tax, amountMinor: 0, exempt: exemption }
    ]
  }
  const tax = { ...rate, amountMinor: taxMinor, baseMinor: leftMinor - taxMinor, included: true }
  if (exemption === null) return [tax]
  const exempt = { exempt: exemption }
  return [
    { ...tax, ...exempt },
    { ...rate, amountMinor: 0 - taxMinor, included: false, ...exempt }
  ]
}

/** Not a share of the amount, but the rest beside the rounded net: net and tax are the amount, always. */
const includedTax: TaxOn = (amountMinor, ratePpm) => amountMinor - withoutShare(amountMinor, ratePpm)

/** The tax of each, in their order. */
const ROUNDINGS: Record<TaxRounding, (taxables: readonly Taxable[], taxOn: TaxOn) => number[]> = {
  group(taxables, taxOn) {
    const taxes: number[] = []
    const places = [...taxables.entries()]
    const groups = Map.groupBy(places, ([, { ratePpm, taxCategory }]) => `${ratePpm} ${taxCategory}`)
    for (const alike of groups.values()) {
      const amounts = alike.map(([, { target }]) => target.leftMinor)
      const amountMinor = sumOf(amounts, amount => amount)
      const parts = allocate(taxOn(amountMinor, alike[0]?.[1].ratePpm ?? 0), amounts)
      for (const [index, [place]] of alike.entries()) taxes[place] = parts[index] ?? 0
    }
    return taxes
  },
  line: (taxables, taxOn) => taxables.map(({ target, ratePpm }) => taxOn(target.leftMinor, ratePpm)),
  /** What does not divide evenly by the units makes some of them dearer by the smallest unit of money. */
  unit: (taxables, taxOn) =>
    taxables.map(({ target: { leftMinor, units }, ratePpm }) => {
      const dearer = leftMinor % units
      const cheap = (leftMinor - dearer) / units
      return dearer * taxOn(cheap + 1, ratePpm) + (units - dearer) * taxOn(cheap, ratePpm)
    })
}

/** The rate of a category where a group goes: that of the nearest zone that has one at the time. */
function openRates({ market, rules, now }: QuoteInput) {
  const zonesByGroup = new Map<QuoteGroup, readonly TaxZone[]>()
  const zonesAround = (destination: Destination): TaxZone[] => {
    const place = placeOf(destination)
    return [place.country, ANYWHERE]
      .flatMap(country => rules.taxZones.get(country) ?? [])
      .flatMap(zone => {
        const area = readArea({ ...zone, postalCode: zone.postalPattern })
        const reach = area && reaching(area)(place)
        return reach === undefined ? [] : [{ zone, reach }]
      })
      .sort((a, b) => compareReach(a.reach, b.reach) || (a.zone.id < b.zone.id ? -1 : 1))
      .map(({ zone }) => zone)
  }
  const zonesOf = (group: QuoteGroup): readonly TaxZone[] => {
    const [country] = market.countries
    const destination = destinationOf(group) ?? (country === undefined ? null : { country })
    const zones = zonesByGroup.get(group) ?? (destination === null ? [] : zonesAround(destination))
    zonesByGroup.set(group, zones)
    return zones
  }
  const holds = ({ startsAt, endsAt }: TaxRate) =>
    (startsAt === null || now >= startsAt) && (endsAt === null || now < endsAt)
  return (group: QuoteGroup, category: string): number | undefined => {
    for (const { rates } of zonesOf(group)) {
      const rate = rates.find(each => each.category === category && holds(each))
      if (rate !== undefined) return rate.ppm
    }
    return undefined
  }
}
