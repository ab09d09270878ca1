import { shareOf, withoutShare } from '../../../kernel/money.ts'
import { zonesOf } from '../../../kernel/zones.ts'
import { allocate } from './allocate.ts'
import { type Component, sumOf } from './components.ts'
import type { QuoteGroup, QuoteInput, TaxRate, TaxRounding } from './input.ts'
import type { Target } from './targets.ts'

type Taxable = { readonly target: Target; readonly ratePpm: number }
/** What tax on an amount is. */
type TaxOn = (amountMinor: number, ratePpm: number) => number

/** The tax of everything that has a rate, in the order of the targets. A rate of zero is one, too. */
export function taxOf(targets: readonly Target[], input: QuoteInput): Component[] {
  const { market, buyer } = input
  const rateOf = openRates(input)
  const taxables = targets.flatMap(target => {
    const ratePpm = rateOf(target.group, target.taxCategory)
    return ratePpm === undefined ? [] : [{ target, ratePpm }]
  })
  const taxOn = market.pricesIncludeTax ? includedTax : shareOf
  const taxes = ROUNDINGS[market.taxRounding](taxables, taxOn)
  return taxables.flatMap(({ target, ratePpm }) => {
    const { of, taxCategory, leftMinor } = target
    const taxMinor = taxes.get(target) ?? 0
    const rate = { kind: 'tax', ...of, ratePpm, taxCategory } as const
    const exempt = buyer.exemption === null ? {} : { exempt: buyer.exemption }
    if (market.pricesIncludeTax) {
      const baseMinor = leftMinor - taxMinor
      const tax: Component = { ...rate, amountMinor: taxMinor, baseMinor, included: true, ...exempt }
      return buyer.exemption === null
        ? [tax]
        : [tax, { ...rate, amountMinor: 0 - taxMinor, included: false, ...exempt }]
    }
    const amountMinor = buyer.exemption === null ? taxMinor : 0
    return [{ ...rate, amountMinor, baseMinor: leftMinor, included: false, ...exempt }]
  })
}

/** Not a share of the amount, but the rest beside the rounded net: net and tax are the amount, always. */
const includedTax: TaxOn = (amountMinor, ratePpm) => amountMinor - withoutShare(amountMinor, ratePpm)

const ROUNDINGS: Record<TaxRounding, (taxables: readonly Taxable[], taxOn: TaxOn) => Map<Target, number>> = {
  group(taxables, taxOn) {
    const groups = Map.groupBy(taxables, ({ target, ratePpm }) => `${ratePpm} ${target.taxCategory}`)
    const taxes = new Map<Target, number>()
    for (const alike of groups.values()) {
      const amounts = alike.map(({ target }) => target.leftMinor)
      const ratePpm = alike[0]?.ratePpm ?? 0
      const tax = taxOn(
        sumOf(amounts, amount => amount),
        ratePpm
      )
      for (const [index, part] of allocate(tax, amounts).entries()) {
        const target = alike[index]?.target
        if (target !== undefined) taxes.set(target, part)
      }
    }
    return taxes
  },
  line: (taxables, taxOn) =>
    new Map(taxables.map(({ target, ratePpm }) => [target, taxOn(target.leftMinor, ratePpm)])),
  /** What does not divide evenly by the units makes some of them dearer by the smallest unit of money. */
  unit: (taxables, taxOn) =>
    new Map(
      taxables.map(({ target, ratePpm }) => {
        const dearer = target.leftMinor % target.units
        const cheap = (target.leftMinor - dearer) / target.units
        const tax = dearer * taxOn(cheap + 1, ratePpm) + (target.units - dearer) * taxOn(cheap, ratePpm)
        return [target, tax]
      })
    )
}

/** The rate of a category where a group goes: that of the most specific zone that has one at the time. */
function openRates({ market, rules, now }: QuoteInput) {
  const zonesByGroup = new Map<QuoteGroup, ReturnType<typeof zonesAt>>()
  const zonesAt = (group: QuoteGroup) => {
    const [country] = market.countries
    const assumed = country === undefined ? null : { country, region: null, postalCode: null }
    const destination = group.destination ?? assumed
    if (destination === null) return []
    return zonesOf(rules.taxZones.get(destination.country) ?? [], destination)
  }
  const holds = ({ startsAt, endsAt }: TaxRate) =>
    (startsAt === null || now >= startsAt) && (endsAt === null || now < endsAt)
  return (group: QuoteGroup, category: string): number | undefined => {
    const zones = zonesByGroup.get(group) ?? zonesAt(group)
    zonesByGroup.set(group, zones)
    for (const { rates } of zones) {
      const rate = rates.find(each => each.category === category && holds(each))
      if (rate !== undefined) return rate.ppm
    }
    return undefined
  }
}
