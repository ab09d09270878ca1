import { ANYWHERE, compareReach, type Destination, placeOf } from '../../../kernel/areas.ts'
import { shareOf, withoutShare } from '../../../kernel/money.ts'
import { UNTAXED } from '../taxes/categories.ts'
import { allocate } from './allocate.ts'
import { type Component, sumOf } from './components.ts'
import type { Exemption, Market, QuoteGroup, QuoteInput, TaxRounding, TaxZone } from './input.ts'
import { destinationOf, type Target } from './targets.ts'

type Taxable = { readonly target: Target; readonly taxCategory: string; readonly ratePpm: number }
/** What tax on an amount is. */
type TaxOn = (amountMinor: number, ratePpm: number) => number

/** The tax of everything that has a rate, in the order of the targets. A rate of zero is one, too. */
export function taxOf(targets: readonly Target[], input: QuoteInput): Component[] {
  const { market } = input
  const exemptionOf = openExemptions(input)
  const rateOf = openRates(input)
  const taxables = targets.flatMap((target): Taxable[] => {
    const { taxCategory } = target
    const ratePpm = taxCategory === UNTAXED ? undefined : rateOf(target.group, taxCategory)
    return ratePpm === undefined ? [] : [{ target, taxCategory, ratePpm }]
  })
  const taxOn = market.pricesIncludeTax ? includedTax : shareOf
  const taxes = ROUNDINGS[market.taxRounding](taxables, taxOn)
  return taxables.flatMap((taxable, index) =>
    componentsOf(taxable, taxes[index] ?? 0, market, exemptionOf(taxable.target.group))
  )
}

function componentsOf(
  { target: { of, leftMinor }, taxCategory, ratePpm }: Taxable,
  taxMinor: number,
  { pricesIncludeTax }: Market,
  exempt: Exemption | undefined
): Component[] {
  const rate = { kind: 'tax', ...of, ratePpm, taxCategory } as const
  if (!pricesIncludeTax) {
    const tax = { ...rate, baseMinor: leftMinor, included: false }
    return [exempt === undefined ? { ...tax, amountMinor: taxMinor } : { ...tax, amountMinor: 0, exempt }]
  }
  const tax = { ...rate, amountMinor: taxMinor, baseMinor: leftMinor - taxMinor, included: true }
  if (exempt === undefined) return [tax]
  return [
    { ...tax, exempt },
    { ...rate, amountMinor: 0 - taxMinor, included: false, exempt }
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
        const reach = zone.reachFor(place)
        return reach === undefined ? [] : [{ zone, reach }]
      })
      .sort((a, b) => compareReach(a.reach, b.reach) || (a.zone.id < b.zone.id ? -1 : 1))
      .map(({ zone }) => zone)
  }
  const zonesOf = (group: QuoteGroup): readonly TaxZone[] => {
    const destination = taxedAt(group, market)
    const zones = zonesByGroup.get(group) ?? (destination === null ? [] : zonesAround(destination))
    zonesByGroup.set(group, zones)
    return zones
  }
  return (group: QuoteGroup, category: string): number | undefined => {
    for (const { rates } of zonesOf(group)) {
      const rate = rates.find(each => each.category === category && isCurrent(each, now))
      if (rate !== undefined) return rate.ppm
    }
    return undefined
  }
}

/** Why the buyer pays no tax on what a group brings. */
const openExemptions =
  ({ market, buyer, now }: QuoteInput) =>
  (group: QuoteGroup): Exemption | undefined => {
    const country = taxedAt(group, market)?.country
    const isThere = ({ countries }: Exemption) =>
      countries === null || (country !== undefined && countries.includes(country))
    return buyer.exemptions.find(each => isCurrent(each, now) && isThere(each))
  }

/** Where it goes, else where a buyer of the market is who has not said so. */
function taxedAt(group: QuoteGroup, { countries: [country] }: Market): Destination | null {
  return destinationOf(group) ?? (country === undefined ? null : { country })
}

type Period = { readonly startsAt: number | null; readonly endsAt: number | null }
const isCurrent = ({ startsAt, endsAt }: Period, now: number): boolean =>
  (startsAt === null || now >= startsAt) && (endsAt === null || now < endsAt)
