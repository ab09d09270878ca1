import {
  ANY_COUNTRY,
  compareAreaSizes,
  type DeliveryDestination,
  toMatchableDestination
} from '../../../kernel/areas.ts'
import { amountBeforeRatePpm, multiplyByRatePpm } from '../../../kernel/money.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import { allocateAmountByWeight } from './allocate.ts'
import type { PriceComponent } from './components.ts'
import type {
  QuoteDeliveryGroup,
  QuoteInput,
  QuoteMarket,
  QuoteTaxExemption,
  TaxRounding,
  TaxZone
} from './input.ts'
import { UNTAXED_TAX_CATEGORY } from './input.ts'
import { destinationOfDeliveryGroup, type LineOrDeliveryDiscountTarget } from './targets.ts'

type Taxable = {
  readonly target: LineOrDeliveryDiscountTarget
  readonly taxCategory: string
  readonly ratePpm: number
}
/** Computes the tax on an amount. */
type ComputeTax = (amountMinor: number, ratePpm: number) => number

/** Computes the tax of all targets with a rate, including a rate of zero. */
export function computeTaxComponents(
  targets: readonly LineOrDeliveryDiscountTarget[],
  input: QuoteInput
): PriceComponent[] {
  const { market } = input
  const exemptionOf = createExemptionLookup(input)
  const [taxables, taxes] =
    input.taxes === undefined ? taxByRates(targets, input) : taxByEngine(targets, input.taxes)
  return taxables.flatMap((taxable, index) =>
    componentsOf(taxable, taxes[index] ?? 0, market, exemptionOf(taxable.target.group))
  )
}

/** Taxables, and the tax of each in their order. */
type Taxed = readonly [taxables: readonly Taxable[], taxes: readonly number[]]

function taxByRates(targets: readonly LineOrDeliveryDiscountTarget[], input: QuoteInput): Taxed {
  const { market } = input
  const rateOf = createRateLookup(input)
  const taxables = targets.flatMap((target): Taxable[] => {
    const { taxCategory } = target
    const ratePpm = taxCategory === UNTAXED_TAX_CATEGORY ? undefined : rateOf(target.group, taxCategory)
    return ratePpm === undefined ? [] : [{ target, taxCategory, ratePpm }]
  })
  const taxOn = market.pricesIncludeTax ? includedTax : multiplyByRatePpm
  return [taxables, ROUNDINGS[market.taxRounding](taxables, taxOn)]
}

function taxByEngine(
  targets: readonly LineOrDeliveryDiscountTarget[],
  taxes: NonNullable<QuoteInput['taxes']>
): Taxed {
  const taxed = targets.filter(({ taxCategory }) => taxCategory !== UNTAXED_TAX_CATEGORY)
  if (taxed.length !== taxes.length)
    throw new Error(`The quote has ${taxes.length} taxes for ${taxed.length} components`)
  return [
    taxed.map((target, index) => ({
      target,
      taxCategory: target.taxCategory,
      ratePpm: taxes[index]?.ratePpm ?? 0
    })),
    taxes.map(({ taxMinor }) => taxMinor)
  ]
}

function componentsOf(
  { target: { key: of, leftMinor }, taxCategory, ratePpm }: Taxable,
  taxMinor: number,
  { pricesIncludeTax }: QuoteMarket,
  exempt: QuoteTaxExemption | undefined
): PriceComponent[] {
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

/** An included tax is the amount minus its rounded net amount, so that net and tax always add up. */
const includedTax: ComputeTax = (amountMinor, ratePpm) =>
  amountMinor - amountBeforeRatePpm(amountMinor, ratePpm)

/** Returns the tax of each taxable, in order. */
const ROUNDINGS: Record<TaxRounding, (taxables: readonly Taxable[], taxOn: ComputeTax) => number[]> = {
  group(taxables, taxOn) {
    const taxes: number[] = []
    const places = [...taxables.entries()]
    const groups = Map.groupBy(places, ([, { ratePpm, taxCategory }]) => `${ratePpm} ${taxCategory}`)
    for (const alike of groups.values()) {
      const amounts = alike.map(([, { target }]) => target.leftMinor)
      const amountMinor = sumBy(amounts, amount => amount)
      const parts = allocateAmountByWeight(taxOn(amountMinor, alike[0]?.[1].ratePpm ?? 0), amounts)
      for (const [index, [place]] of alike.entries()) taxes[place] = parts[index] ?? 0
    }
    return taxes
  },
  line: (taxables, taxOn) => taxables.map(({ target, ratePpm }) => taxOn(target.leftMinor, ratePpm)),
  /**
   * When a line does not divide evenly, its unit prices differ by one minor unit; each distinct price is
   * taxed separately.
   */
  unit: (taxables, taxOn) =>
    taxables.map(({ target: { leftMinor, units }, ratePpm }) => {
      const dearer = leftMinor % units
      const cheap = (leftMinor - dearer) / units
      return dearer * taxOn(cheap + 1, ratePpm) + (units - dearer) * taxOn(cheap, ratePpm)
    })
}

/**
 * Creates a lookup of the rate of a category at a group's destination: that of the most specific zone with
 * a current rate.
 */
function createRateLookup({ market, rules, now }: QuoteInput) {
  const zonesByGroup = new Map<QuoteDeliveryGroup, readonly TaxZone[]>()
  const zonesAround = (destination: DeliveryDestination): TaxZone[] => {
    const place = toMatchableDestination(destination)
    return [place.country, ANY_COUNTRY]
      .flatMap(country => rules.taxZones.get(country) ?? [])
      .flatMap(zone => {
        const reach = zone.reachFor(place)
        return reach === undefined ? [] : [{ zone, reach }]
      })
      .sort((a, b) => compareAreaSizes(a.reach, b.reach) || (a.zone.id < b.zone.id ? -1 : 1))
      .map(({ zone }) => zone)
  }
  const zonesOf = (group: QuoteDeliveryGroup): readonly TaxZone[] => {
    const destination = placeOfTaxation(group, market)
    const zones = zonesByGroup.get(group) ?? (destination === null ? [] : zonesAround(destination))
    zonesByGroup.set(group, zones)
    return zones
  }
  return (group: QuoteDeliveryGroup, category: string): number | undefined => {
    for (const { rates } of zonesOf(group)) {
      const rate = rates.find(each => each.category === category && isCurrent(each, now))
      if (rate !== undefined) return rate.ppm
    }
    return undefined
  }
}

/** Creates a lookup of the buyer's exemption for a group. */
const createExemptionLookup =
  ({ market, buyer, now }: QuoteInput) =>
  (group: QuoteDeliveryGroup): QuoteTaxExemption | undefined => {
    const country = placeOfTaxation(group, market)?.country
    const isThere = ({ countries }: QuoteTaxExemption) =>
      countries === null || (country !== undefined && countries.includes(country))
    return buyer.exemptions.find(each => isCurrent(each, now) && isThere(each))
  }

/** Returns the destination, else the first country of the market. */
export function placeOfTaxation(
  group: QuoteDeliveryGroup,
  { countries: [country] }: Pick<QuoteMarket, 'countries'>
): DeliveryDestination | null {
  return destinationOfDeliveryGroup(group) ?? (country === undefined ? null : { country })
}

type Period = { readonly startsAt: number | null; readonly endsAt: number | null }
const isCurrent = ({ startsAt, endsAt }: Period, now: number): boolean =>
  (startsAt === null || now >= startsAt) && (endsAt === null || now < endsAt)
