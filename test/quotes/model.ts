import type {
  Promotion,
  PromotionClass,
  PromotionEffect,
  QuoteInput,
  QuoteLine,
  QuoteShippingOption
} from '../../src/modules/pricing/quote/input.ts'

/**
 * Prices as they ought to be, reckoned naively: with exact fractions that are rounded where the rules say so, and with none of the
 * machinery. It knows nothing of the program but the types of what goes in.
 */
type Fraction = { readonly top: bigint; readonly bottom: bigint }
const part = (of: bigint, top: bigint, bottom: bigint): Fraction => ({ top: of * top, bottom })
const halfUp = ({ top, bottom }: Fraction): bigint => (2n * top + bottom) / (2n * bottom)
const MILLION = 1_000_000n
const sum = (list: readonly bigint[]) => list.reduce((total, each) => total + each, 0n)
const least = (a: bigint, b: bigint) => (a < b ? a : b)
const byText = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)

/** Gives each unit to the line that lacks most of its exact share, but never a whole unit more than that share. */
function split(amount: bigint, weights: readonly bigint[]): bigint[] {
  const whole = sum(weights)
  const got = weights.map(weight => (whole === 0n ? 0n : (amount * weight) / whole))
  while (whole > 0n && sum(got) < amount) {
    const lacks = weights.map((weight, index) => amount * weight - (got[index] ?? 0n) * whole)
    const most = lacks.reduce((a, b) => (b > a ? b : a))
    const next = lacks.indexOf(most)
    got[next] = (got[next] ?? 0n) + 1n
  }
  return got
}

/** A line, or the delivery of a group. */
type Thing = {
  name: string
  group: string
  units: bigint
  category: string
  whole: bigint
  now: bigint
  promotions: number
  tax: bigint
  line?: QuoteLine
  option?: QuoteShippingOption
  /** The lowest price of all options. */
  cheapest?: number | undefined
}

const effectOn = (effect: PromotionEffect, currency: string, price: bigint, units: bigint): bigint => {
  if (effect.type === 'free_shipping') return price
  if (effect.type === 'percentage') return halfUp(part(price, BigInt(effect.ppm), MILLION))
  const amount = BigInt(effect.minor[currency] ?? 0) * units
  if (effect.type === 'amount') return least(price, amount)
  return price > amount ? price - amount : 0n
}

const fitsLine = ({ productIds, categoryIds }: Promotion, line: QuoteLine) => {
  const everything = productIds === null && categoryIds === null
  const byProduct = [...(productIds ?? [])].includes(line.productId)
  return everything || byProduct || line.categoryIds.some(id => [...(categoryIds ?? [])].includes(id))
}

function isAllowed(promotion: Promotion, input: QuoteInput, lines: readonly Thing[]): boolean {
  const { market, buyer, now } = input
  const { effect, minimumMinor, usesLeft, usesPerCustomer } = promotion
  const matching = lines.filter(({ line }) => line && fitsLine(promotion, line))
  const used = buyer.used.get(promotion.id) ?? 0
  const currencies = [
    effect.type === 'amount' || effect.type === 'fixed_price' ? effect.minor : null,
    minimumMinor
  ]
  return (
    (promotion.startsAt ?? now) <= now &&
    now < (promotion.endsAt ?? now + 1) &&
    (promotion.markets ?? [market.code]).includes(market.code) &&
    currencies.every(amounts => amounts === null || amounts[market.currency] !== undefined) &&
    (promotion.group ?? buyer.group) === buyer.group &&
    (buyer.isFirstOrder || !promotion.firstOrderOnly) &&
    (usesLeft ?? 1) > 0 &&
    used < (usesPerCustomer ?? used + 1) &&
    matching.length > 0 &&
    sum(matching.map(thing => thing.whole)) >= BigInt(minimumMinor?.[market.currency] ?? 0) &&
    sum(matching.map(thing => thing.units)) >= BigInt(promotion.minimumQuantity)
  )
}

/** The promotions of the codes that can still be used. */
function askedFor({ codes, rules }: QuoteInput): string[] {
  return codes.flatMap(code => {
    const known = rules.codes.get(code.trim().toUpperCase())
    return known && (known.usesLeft ?? 1) > 0 ? [known.promotionId] : []
  })
}

function savings(promotion: Promotion, currency: string, things: readonly Thing[], at: 'whole' | 'now') {
  const prices = things.map(thing => thing[at])
  if (promotion.class !== 'order')
    return things.map(thing => effectOn(promotion.effect, currency, thing[at], thing.units))
  return split(effectOn(promotion.effect, currency, sum(prices), 1n), prices)
}

function takeClass(
  of: PromotionClass,
  usable: readonly Promotion[],
  currency: string,
  taken: Promotion[],
  thingsOf: (promotion: Promotion) => Thing[]
): void {
  const alone = (promotion: Promotion) => sum(savings(promotion, currency, thingsOf(promotion), 'whole'))
  const waiting = usable.filter(promotion => promotion.class === of)
  waiting.sort((a, b) => byText(a.id, b.id))
  waiting.sort((a, b) => (alone(a) > alone(b) ? -1 : alone(a) < alone(b) ? 1 : 0))
  waiting.sort((a, b) => b.priority - a.priority)
  for (const promotion of waiting) {
    const allow = (one: Promotion, other: Promotion) => one.combines.some(each => each === other.class)
    if (taken.some(each => !allow(each, promotion) || !allow(promotion, each))) continue
    const things = thingsOf(promotion).filter(thing => thing.promotions < 20)
    const off = savings(promotion, currency, things, 'now')
    if (sum(off) === 0n) continue
    taken.push(promotion)
    for (const [index, thing] of things.entries()) {
      thing.now -= off[index] ?? 0n
      if (off[index] !== 0n) thing.promotions += 1
    }
  }
}

function deliveriesOf(input: QuoteInput, lines: readonly Thing[]): Thing[] {
  return [...input.groups]
    .sort((a, b) => byText(a.key, b.key))
    .flatMap(({ key, method, destination, choice }) => {
      const inside = lines.filter(({ line, group }) => line?.requiresShipping && group === key)
      if (inside.length === 0 || method === 'digital') return []
      if (method === 'shipping' && destination === null) return []
      const options = input.rules.ratesOf({
        method,
        destination: destination && { country: destination.country },
        currency: input.market.currency,
        weightGrams: inside.reduce(
          (grams, { line }) => grams + (line?.weightGrams ?? 0) * (line?.quantity ?? 0),
          0
        ),
        valueMinor: Number(sum(inside.map(thing => thing.now))),
        items: Number(sum(inside.map(thing => thing.units)))
      })
      const cheapest = [...options]
        .sort((a, b) => byText(a.id, b.id))
        .sort((a, b) => a.amountMinor - b.amountMinor)
      const option = options.find(each => each.id === choice) ?? cheapest[0]
      if (option === undefined) return []
      const price = BigInt(option.amountMinor)
      const counters = { units: 1n, promotions: 0, tax: 0n }
      return [
        {
          name: key,
          group: key,
          category: option.taxCategory ?? 'standard',
          option,
          cheapest: cheapest[0]?.amountMinor,
          whole: price,
          now: price,
          ...counters
        }
      ]
    })
}

/** Zones of these tests are a country, a region of it, or postal codes that begin alike. */
function rateOf(input: QuoteInput, thing: Thing): bigint | undefined {
  const { destination } = input.groups.find(group => group.key === thing.group) ?? {}
  const country = destination?.country ?? input.market.countries[0] ?? ''
  const inside = (input.rules.taxZones.get(country) ?? []).filter(
    ({ area: { region, postalCode } }) =>
      (region === null || region === destination?.region) &&
      (postalCode === null || (destination?.postalCode ?? '').startsWith(postalCode.replace('*', '')))
  )
  const levels = [
    inside.filter(({ area }) => area.postalCode !== null),
    inside.filter(({ area }) => area.postalCode === null && area.region !== null),
    inside.filter(({ area }) => area.postalCode === null && area.region === null)
  ]
  const rates = levels.flat().flatMap(zone => zone.rates)
  const rate = rates.find(
    ({ category, startsAt, endsAt }) =>
      category === thing.category &&
      (startsAt ?? input.now) <= input.now &&
      input.now < (endsAt ?? input.now + 1)
  )
  return rate === undefined ? undefined : BigInt(rate.ppm)
}

/** Tax on an amount: what comes on top of it, or is part of it. */
export const taxOn = (amount: bigint, ppm: bigint, isIncluded: boolean): bigint =>
  isIncluded ? amount - halfUp(part(amount, MILLION, MILLION + ppm)) : halfUp(part(amount, ppm, MILLION))

function tax(input: QuoteInput, things: readonly Thing[]): void {
  const { pricesIncludeTax, taxRounding } = input.market
  const taxed = things.flatMap(thing => {
    const ppm = rateOf(input, thing)
    return ppm === undefined ? [] : [{ thing, ppm }]
  })
  for (const { thing, ppm } of taxed) {
    if (taxRounding === 'line') thing.tax = taxOn(thing.now, ppm, pricesIncludeTax)
    if (taxRounding !== 'unit') continue
    const each = split(
      thing.now,
      Array.from({ length: Number(thing.units) }, () => 1n)
    )
    thing.tax = sum(each.map(price => taxOn(price, ppm, pricesIncludeTax)))
  }
  if (taxRounding !== 'group') return
  for (const { thing: first, ppm } of taxed) {
    const alike = taxed.filter(each => each.ppm === ppm && each.thing.category === first.category)
    if (alike[0]?.thing !== first) continue
    const amounts = alike.map(({ thing }) => thing.now)
    const parts = split(taxOn(sum(amounts), ppm, pricesIncludeTax), amounts)
    for (const [index, { thing }] of alike.entries()) thing.tax = parts[index] ?? 0n
  }
}

function isExempt({ groups, market, buyer, now }: QuoteInput, thing: Thing): boolean {
  const { destination } = groups.find(group => group.key === thing.group) ?? {}
  const country = destination?.country ?? market.countries[0] ?? ''
  return buyer.exemptions.some(
    ({ countries, startsAt, endsAt }) =>
      (countries ?? [country]).includes(country) && (startsAt ?? now) <= now && now < (endsAt ?? now + 1)
  )
}

/** What of a basket is what: after discounts, its tax, what is paid in the end, and which promotions were taken. */
export function reckon(input: QuoteInput) {
  const { market, rules } = input
  const lines = [...input.lines]
    .sort((a, b) => byText(a.key, b.key))
    .map((line): Thing => {
      const price = BigInt(line.discountedPriceMinor) * BigInt(line.quantity)
      const about = { name: line.key, group: line.group, category: line.taxCategory ?? 'standard', line }
      return { ...about, units: BigInt(line.quantity), whole: price, now: price, promotions: 0, tax: 0n }
    })
  const asked = askedFor(input)
  const usable = rules.promotions.filter(
    promotion => (!promotion.needsCode || asked.includes(promotion.id)) && isAllowed(promotion, input, lines)
  )
  const taken: Promotion[] = []
  const linesOf = (promotion: Promotion) => lines.filter(({ line }) => line && fitsLine(promotion, line))
  takeClass('line', usable, market.currency, taken, linesOf)
  takeClass('order', usable, market.currency, taken, linesOf)
  const deliveries = deliveriesOf(input, lines)
  takeClass('shipping', usable, market.currency, taken, promotion =>
    deliveries.filter(
      ({ group, option, cheapest }) =>
        linesOf(promotion).some(line => line.group === group) &&
        (!promotion.cheapestOnly || option?.amountMinor === cheapest) &&
        (promotion.shippingMethodIds === null ||
          [...promotion.shippingMethodIds].includes(option?.methodId ?? ''))
    )
  )
  const things = [...lines, ...deliveries]
  tax(input, things)
  const owed = (thing: Thing) => (isExempt(input, thing) ? 0n : thing.tax)
  const taxes = sum(things.map(thing => thing.tax))
  const paid = sum(things.map(thing => thing.now))
  const added = sum(things.map(owed)) - (market.pricesIncludeTax ? taxes : 0n)
  const step = BigInt(market.cashRoundingMinor)
  return {
    lines: lines.map(thing => ({ name: thing.name, now: Number(thing.now), tax: Number(owed(thing)) })),
    deliveries: deliveries.map(thing => ({
      name: thing.name,
      now: Number(thing.now),
      tax: Number(owed(thing))
    })),
    total: Number(halfUp({ top: paid + added, bottom: step }) * step),
    taken: taken.map(({ id }) => id).sort(byText)
  }
}
