import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizePromotionCode } from '../../src/modules/pricing/quote/codes.ts'
import type { PriceComponent } from '../../src/modules/pricing/quote/components.ts'
import type { QuoteInput } from '../../src/modules/pricing/quote/input.ts'
import { computeQuote, type Quote } from '../../src/modules/pricing/quote/quote.ts'
import { quoteInput } from '../support/quotes.ts'
import { anyBasket, shuffled } from './baskets.ts'
import { reckon, taxOn } from './model.ts'

const BASKETS = Number(process.env.BASKETS ?? 2_000)
const HOURS = { timeout: 3 * 3_600_000 }
/** Each case is met in one of so many baskets at least; in fact in ten times as many, so that no seed misses one. */
const MET_IN = 2_000

const sumOf = <T>(list: readonly T[], of: (each: T) => number) =>
  list.reduce((sum, each) => sum + of(each), 0)
const amountOf = (components: readonly PriceComponent[]) => sumOf(components, each => each.amountMinor)
const payable = (components: readonly PriceComponent[]) => components.filter(({ included }) => !included)

/** What the model says, of a quote. */
const reckoned = ({ lines, groups, totals, redemptions }: Quote): ReturnType<typeof reckon> => ({
  lines: lines.map(({ key, totalMinor, taxMinor }) => ({ name: key, now: totalMinor, tax: taxMinor })),
  deliveries: groups
    .filter(({ option }) => option !== null)
    .map(({ key, shippingMinor, taxMinor }) => ({ name: key, now: shippingMinor, tax: taxMinor })),
  total: totals.totalMinor,
  taken: redemptions.map(({ promotionId }) => promotionId)
})

const CASES = [
  ...['item', 'discount', 'shipping', 'shipping_discount', 'tax', 'cash_rounding'],
  ...['CODE_UNKNOWN', 'CODE_NOT_STARTED', 'CODE_EXPIRED', 'CODE_NOT_IN_MARKET', 'CODE_NOT_FOR_CUSTOMER'],
  ...['CODE_FIRST_ORDER_ONLY', 'CODE_USED_UP', 'CODE_CUSTOMER_LIMIT', 'CODE_NO_MATCHING_LINE'],
  ...['CODE_MINIMUM', 'CODE_NEEDS_DESTINATION', 'CODE_NOT_COMBINABLE', 'CODE_NO_EFFECT'],
  ...['SHIPPING_DESTINATION_MISSING', 'SHIPPING_NOT_AVAILABLE', 'SHIPPING_CHOICE_GONE'],
  ...['JPY', 'EUR', 'KWD'].flatMap(currency => [`${currency} with tax`, `${currency} and tax`]),
  ...['group', 'line', 'unit'].flatMap(rounding => [`${rounding} with tax`, `${rounding} and tax`]),
  ...['line percentage', 'line amount', 'line fixed_price', 'order percentage', 'order amount'],
  ...['shipping percentage', 'shipping amount', 'shipping fixed_price', 'shipping free_shipping'],
  ...['promotions of all classes', 'several of one line', 'by a code', 'several codes count'],
  ...[
    'several groups',
    'several deliveries',
    'several rates',
    'exempt',
    'exempt in part',
    'a catalog discount',
    'nothing to pay'
  ]
]

/** What is met in a basket: kinds of components, findings, and what of the market, promotions and groups counts. */
function casesOf({ market, rules }: QuoteInput, quoted: Quote): Set<string> {
  const { components, findings, redemptions, groups, lines, taxSummary, totals } = quoted
  const taken = rules.promotions.filter(({ id }) => redemptions.some(each => each.promotionId === id))
  const discounts = components.filter(each => each.promotion !== undefined && each.line !== undefined)
  const many = (list: readonly unknown[]) => new Set(list).size > 1
  const prices = market.pricesIncludeTax ? 'with tax' : 'and tax'
  const isTaxed = totals.taxMinor > 0
  const met: Record<string, boolean> = {
    [`${market.currency} ${prices}`]: isTaxed,
    [`${market.taxRounding} ${prices}`]: isTaxed,
    'promotions of all classes': new Set(taken.map(each => each.class)).size === 3,
    'several of one line': discounts.length > new Set(discounts.map(each => each.line)).size,
    'by a code': redemptions.some(({ code }) => code !== undefined),
    'several codes count': many(redemptions.flatMap(({ code }) => code ?? [])),
    'several groups': many(lines.map(({ group }) => group)),
    'several deliveries': many(groups.flatMap(({ key, option }) => (option === null ? [] : key))),
    'several rates': many(taxSummary.map(({ ratePpm }) => ratePpm)),
    exempt: components.some(({ exempt }) => exempt !== undefined),
    'exempt in part': many(components.flatMap(each => (each.kind === 'tax' ? [each.exempt] : []))),
    'a catalog discount': components.some(each => each.kind === 'discount' && each.promotion === undefined),
    'nothing to pay': totals.totalMinor === 0 && totals.subtotalMinor > 0
  }
  return new Set([
    ...components.map(({ kind }) => kind),
    ...findings.map(({ code }) => code),
    ...taken.map(each => `${each.class} ${each.effect.type}`),
    ...Object.keys(met).filter(each => met[each])
  ])
}

test(`each of ${BASKETS} random baskets costs what the naive model says`, HOURS, () => {
  const met = new Map(CASES.map(each => [each, 0]))
  fc.assert(
    fc.property(anyBasket, basket => {
      const quoted = computeQuote(basket)
      expect(reckoned(quoted)).toEqual(reckon(basket))
      for (const each of casesOf(basket, quoted)) met.set(each, (met.get(each) ?? 0) + 1)
    }),
    { numRuns: BASKETS }
  )
  if (process.env.BASKETS !== undefined) console.table(Object.fromEntries(met))
  expect([...met].filter(([, times]) => times * MET_IN < BASKETS)).toEqual([])
})

const PROMISES: Record<string, (basket: QuoteInput, quoted: Quote, numbers: readonly number[]) => void> = {
  'what is shown adds up': (_, { lines, groups, components, totals, taxSummary }) => {
    expect(totals.totalMinor).toBe(amountOf(payable(components)))
    const { subtotalMinor, discountMinor, shippingMinor, taxAddedMinor, cashRoundingMinor } = totals
    expect(subtotalMinor - discountMinor + shippingMinor + taxAddedMinor + cashRoundingMinor).toBe(
      totals.totalMinor
    )
    expect(sumOf(lines, each => each.subtotalMinor)).toBe(subtotalMinor)
    expect(sumOf(lines, each => each.discountMinor)).toBe(discountMinor)
    expect(sumOf(lines, each => each.totalMinor)).toBe(subtotalMinor - discountMinor)
    expect(sumOf(groups, each => each.shippingMinor)).toBe(shippingMinor)
    expect(sumOf([...lines, ...groups], each => each.taxMinor)).toBe(totals.taxMinor)
    expect(sumOf([...lines, ...groups], each => each.taxAddedMinor)).toBe(taxAddedMinor)
    expect(sumOf(taxSummary, each => each.taxMinor)).toBe(totals.taxMinor)
    for (const { netMinor, taxMinor, grossMinor } of taxSummary) expect(netMinor + taxMinor).toBe(grossMinor)
  },

  'nothing is below zero, or beyond what can be counted': (_, { lines, groups, components, totals }) => {
    const { taxAddedMinor: _added, cashRoundingMinor: _rounding, ...least } = totals
    const shown = [...lines, ...groups].flatMap(({ taxAddedMinor: __, ...each }) => Object.values(each))
    const figures = [...Object.values(least), ...shown].filter(each => typeof each === 'number')
    for (const figure of figures) {
      expect(figure).toBeGreaterThanOrEqual(0)
      expect(Number.isSafeInteger(figure)).toBe(true)
    }
    for (const { kind, amountMinor, baseMinor = 0, exempt } of components) {
      if (kind === 'item' || kind === 'shipping' || (kind === 'tax' && !exempt))
        expect(amountMinor).toBeGreaterThanOrEqual(0)
      expect(baseMinor).toBeGreaterThanOrEqual(0)
    }
  },

  'the order of everything changes nothing': (basket, quoted, numbers) => {
    expect(computeQuote(shuffled(basket, numbers))).toEqual(quoted)
  },

  'tax is that of exact fractions, rounded once for what it is rounded for': (basket, { components }) => {
    const { taxRounding, pricesIncludeTax } = basket.market
    if (taxRounding === 'unit' || basket.buyer.exemptions.length > 0) return
    const taxes = components.filter(({ kind }) => kind === 'tax')
    const isOne = ({ ratePpm, taxCategory, line, group }: PriceComponent) =>
      taxRounding === 'group' ? `${ratePpm} ${taxCategory}` : JSON.stringify([line, group])
    for (const alike of Map.groupBy(taxes, isOne).values()) {
      const net = sumOf(alike, each => each.baseMinor ?? 0)
      const priced = BigInt(net + (pricesIncludeTax ? amountOf(alike) : 0))
      expect(BigInt(amountOf(alike))).toBe(taxOn(priced, BigInt(alike[0]?.ratePpm ?? 0), pricesIncludeTax))
    }
  },

  'net and tax of each line are its gross': ({ market }, { lines, components }) => {
    for (const { key, totalMinor } of lines) {
      const [tax] = components.filter(({ kind, line }) => kind === 'tax' && line === key)
      if (tax === undefined) continue
      expect((tax.baseMinor ?? 0) + (market.pricesIncludeTax ? tax.amountMinor : 0)).toBe(totalMinor)
    }
  },

  'the hash changes with whatever is agreed to': (basket, { hash, groups }, numbers) => {
    const at = (numbers[0] ?? 0) % basket.lines.length
    const { market, rules } = basket
    const withLine = (change: (line: QuoteInput['lines'][number]) => object): QuoteInput => ({
      ...basket,
      lines: basket.lines.map((line, index) => (index === at ? { ...line, ...change(line) } : line))
    })
    const others = [
      withLine(({ priceMinor }) => ({ priceMinor: priceMinor + 1 })),
      withLine(({ quantity }) => ({ quantity: quantity + 1 })),
      withLine(() => ({ variantId: 'another' })),
      { ...basket, market: { ...market, currency: 'BHD' } },
      { ...basket, market: { ...market, code: 'abroad' } }
    ]
    const delivered = groups.find(({ option }) => option !== null)
    const another = delivered?.options.find(({ id }) => id !== delivered.option)
    if (delivered !== undefined && another !== undefined) {
      const choice = (key: string) => (key === delivered.key ? { choice: another.id } : {})
      others.push({ ...basket, groups: basket.groups.map(group => ({ ...group, ...choice(group.key) })) })
      const ratesOf: typeof rules.ratesOf = parcel =>
        rules.ratesOf(parcel).map(option => ({ ...option, amountMinor: option.amountMinor + 1 }))
      others.push({ ...basket, rules: { ...rules, ratesOf } })
    }
    for (const other of others) expect(computeQuote(other).hash).not.toBe(hash)
  },

  'the hash stays when nothing of it changes': (basket, { hash, groups }, numbers) => {
    const { rules } = basket
    const promotions = rules.promotions.map(each => ({ ...each, name: `${each.name} (new)` }))
    expect(computeQuote({ ...basket, rules: { ...rules, promotions } }).hash).toBe(hash)
    const lines = basket.lines.map(line => ({ ...line, weightGrams: line.weightGrams + 1 }))
    const byValue = {
      ...rules,
      ratesOf: () => [{ id: 'post', methodId: 'post', amountMinor: 7, taxCategory: null }]
    }
    expect(computeQuote({ ...basket, lines, rules: byValue }).hash).toBe(
      computeQuote({ ...basket, rules: byValue }).hash
    )
    expect(computeQuote(shuffled(basket, numbers)).hash).toBe(hash)
    const optionOf = new Map(groups.map(({ key, option }) => [key, option]))
    const chosen = basket.groups.map(group => ({ ...group, choice: optionOf.get(group.key) ?? null }))
    expect(computeQuote({ ...basket, groups: chosen }).hash).toBe(hash)
  },

  'each code counts, or it is said why not': (basket, { redemptions, findings }) => {
    const counted = redemptions.flatMap(({ code }) => code ?? [])
    const told = findings.flatMap(finding => ('promotionCode' in finding ? [finding.promotionCode] : []))
    expect([...counted, ...told].sort()).toEqual(
      [...new Set(basket.codes.map(normalizePromotionCode))].sort()
    )
  },

  'promotions that were taken allow each other': (basket, { redemptions }) => {
    const taken = basket.rules.promotions.filter(({ id }) =>
      redemptions.some(each => each.promotionId === id)
    )
    for (const one of taken)
      for (const other of taken) if (one !== other) expect(one.combines).toContain(other.class)
  }
}

test.each(Object.entries(PROMISES))(
  `the price of each of ${BASKETS} random baskets keeps the promise: %s`,
  HOURS,
  (_, keeps) => {
    const someNumbers = fc.array(fc.nat({ max: 100 }), { minLength: 7, maxLength: 7 })
    fc.assert(
      fc.property(anyBasket, someNumbers, (basket, numbers) => keeps(basket, computeQuote(basket), numbers)),
      { numRuns: BASKETS }
    )
  }
)

test('at most 20 promotions reduce one line, however many there are', () => {
  const promotions = Array.from({ length: 30 }, (_, index) => ({
    class: index % 2 === 0 ? ('line' as const) : ('order' as const),
    effect: { type: 'amount' as const, minor: { EUR: index } }
  }))
  const input = quoteInput({ lines: [{ priceMinor: 100_000 }, { priceMinor: 50_000 }], promotions })
  const quoted = computeQuote(input)
  expect(reckoned(quoted)).toEqual(reckon(input))
  expect(quoted.redemptions).toHaveLength(20)
})
