import fc from 'fast-check'
import { expect, test } from 'vitest'
import { normalizeCode } from '../../src/modules/pricing/quote/codes.ts'
import type { Component } from '../../src/modules/pricing/quote/components.ts'
import type { QuoteInput } from '../../src/modules/pricing/quote/input.ts'
import { type Quote, quote } from '../../src/modules/pricing/quote/quote.ts'
import { componentsOfUnits } from '../../src/modules/pricing/quote/refund.ts'
import { quoteInput } from '../support/quotes.ts'
import { anyBasket, shuffled } from './baskets.ts'
import { reckon, taxOn } from './model.ts'

const BASKETS = Number(process.env.BASKETS ?? 2_000)
const HOURS = { timeout: 3 * 3_600_000 }
/** Each case is met in so many of a thousand baskets. */
const MET_PER_THOUSAND = 1

const sumOf = <T>(list: readonly T[], of: (each: T) => number) =>
  list.reduce((sum, each) => sum + of(each), 0)
const amountOf = (components: readonly Component[]) => sumOf(components, each => each.amountMinor)
const payable = (components: readonly Component[]) => components.filter(({ included }) => !included)

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
  ...[
    'CODE_FIRST_ORDER_ONLY',
    'CODE_USED_UP',
    'CODE_CUSTOMER_LIMIT',
    'CODE_NO_MATCHING_LINE',
    'CODE_MINIMUM'
  ],
  ...['CODE_NEEDS_DESTINATION', 'CODE_NOT_COMBINABLE', 'CODE_NO_EFFECT'],
  ...['SHIPPING_DESTINATION_MISSING', 'SHIPPING_NOT_AVAILABLE', 'SHIPPING_CHOICE_GONE']
]

test(`each of ${BASKETS} baskets costs what the naive model says`, HOURS, () => {
  const met = new Map(CASES.map(each => [each, 0]))
  const note = (each: string) => met.set(each, (met.get(each) ?? 0) + 1)
  fc.assert(
    fc.property(anyBasket, basket => {
      const quoted = quote(basket)
      expect(reckoned(quoted)).toEqual(reckon(basket))
      for (const kind of new Set(quoted.components.map(each => each.kind))) note(kind)
      for (const code of new Set(quoted.findings.map(each => each.code))) note(code)
    }),
    { numRuns: BASKETS }
  )
  if (process.env.BASKETS !== undefined) console.table(Object.fromEntries(met))
  expect([...met].filter(([, times]) => times * 1_000 < BASKETS * MET_PER_THOUSAND)).toEqual([])
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
    expect(quote(shuffled(basket, numbers))).toEqual(quoted)
  },

  'tax is that of exact fractions, rounded once for what it is rounded for': (basket, { components }) => {
    const { taxRounding, pricesIncludeTax } = basket.market
    if (taxRounding === 'unit' || basket.buyer.exemption !== null) return
    const taxes = components.filter(({ kind }) => kind === 'tax')
    const isOne = ({ ratePpm, taxCategory, line, group }: Component) =>
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

  'a line that is given back in parts is given back': (basket, { lines, components }, numbers) => {
    for (const { key, quantity } of lines) {
      const whole = components.filter(({ line }) => line === key)
      const cuts = [0, ...numbers.map(number => number % (quantity + 1)), quantity].sort((a, b) => a - b)
      const parts = cuts
        .slice(1)
        .map((to, index) => componentsOfUnits(whole, { quantity, from: cuts[index] ?? 0, to }))
      for (const [index, component] of whole.entries()) {
        expect(sumOf(parts, part => part[index]?.amountMinor ?? 0)).toBe(component.amountMinor)
        expect(sumOf(parts, part => part[index]?.baseMinor ?? 0)).toBe(component.baseMinor ?? 0)
      }
      for (const part of parts) {
        expect(amountOf(payable(part))).toBeGreaterThanOrEqual(0)
        const tax = part.find(({ kind }) => kind === 'tax')
        if (tax === undefined || !basket.market.pricesIncludeTax) continue
        const priced = amountOf(part.filter(({ kind }) => kind !== 'tax'))
        expect((tax.baseMinor ?? 0) + tax.amountMinor).toBe(priced)
      }
    }
  },

  'the hash changes with prices, quantities and the currency, and with no name': (
    basket,
    { hash },
    numbers
  ) => {
    const at = (numbers[0] ?? 0) % basket.lines.length
    const withLine = (change: (line: QuoteInput['lines'][number]) => object): QuoteInput => ({
      ...basket,
      lines: basket.lines.map((line, index) => (index === at ? { ...line, ...change(line) } : line))
    })
    const others = [
      withLine(({ priceMinor }) => ({ priceMinor: priceMinor + 1 })),
      withLine(({ quantity }) => ({ quantity: quantity + 1 })),
      withLine(() => ({ variantId: 'another' })),
      { ...basket, market: { ...basket.market, currency: 'BHD' } }
    ]
    for (const other of others) expect(quote(other).hash).not.toBe(hash)
    const promotions = basket.rules.promotions.map(each => ({ ...each, name: `${each.name} (new)` }))
    expect(quote({ ...basket, rules: { ...basket.rules, promotions } }).hash).toBe(hash)
  },

  'each code counts, or it is said why not': (basket, { redemptions, findings }) => {
    const counted = redemptions.flatMap(({ code }) => code ?? [])
    const told = findings.flatMap(finding => ('promotionCode' in finding ? [finding.promotionCode] : []))
    expect([...counted, ...told].sort()).toEqual([...new Set(basket.codes.map(normalizeCode))].sort())
  },

  'promotions that were taken allow each other': (basket, { redemptions }) => {
    const taken = basket.rules.promotions.filter(({ id }) =>
      redemptions.some(each => each.promotionId === id)
    )
    for (const one of taken)
      for (const other of taken) if (one !== other) expect(one.combines).toContain(other.class)
  }
}

test.each(Object.entries(PROMISES))(`in each of ${BASKETS} baskets: %s`, HOURS, (_, keeps) => {
  const someNumbers = fc.array(fc.nat({ max: 100 }), { minLength: 7, maxLength: 7 })
  fc.assert(
    fc.property(anyBasket, someNumbers, (basket, numbers) => keeps(basket, quote(basket), numbers)),
    { numRuns: BASKETS }
  )
})

test('of one line at most 20 promotions take something off, however many there are', () => {
  const promotions = Array.from({ length: 30 }, (_, index) => ({
    class: index % 2 === 0 ? ('line' as const) : ('order' as const),
    effect: { type: 'amount' as const, minor: { EUR: index } }
  }))
  const input = quoteInput({ lines: [{ priceMinor: 100_000 }, { priceMinor: 50_000 }], promotions })
  const quoted = quote(input)
  expect(reckoned(quoted)).toEqual(reckon(input))
  expect(quoted.redemptions).toHaveLength(20)
})
