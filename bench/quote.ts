/**
 * What a quote costs, in CPU time of the process, and how it grows with lines and promotions: `npm run bench:quote`, some
 * seconds. Every promotion matches every line and combines with all others, which no shop would want: it is the most that
 * there can be to do. `-- takers` (two minutes; needs a C compiler) redeems a promotion beside readers of carts instead.
 */
import {
  computeQuote,
  PROMOTIONS_PER_QUOTE_MAX,
  QUOTE_SIZE_LIMITS,
  quoteInput,
  taxed,
  zoneOf
} from '../test/support/quotes.ts'
import { takers } from './quote-takers.ts'
import { print } from './tables.ts'

const WARM_UP = 200
const ROUNDS = 7
const QUOTES = 40
const MS_MAX = 10
const CODES = 10
const GROUPS = 4
const CLASSES = ['line', 'order', 'shipping'] as const
const MIXED = (index: number) => CLASSES[index % CLASSES.length] ?? 'line'

type Size = { lines: number; promotions: number; of?: typeof MIXED; cents?: number; zones?: number }

function basket({ lines, promotions, of = MIXED, cents = 1, zones = 0 }: Size) {
  return quoteInput({
    lines: Array.from({ length: lines }, (_, index) => ({
      priceMinor: (2_000 + 37 * index) * cents,
      discountedPriceMinor: (1_800 + 31 * index) * cents,
      quantity: 1 + (index % 5),
      taxCategory: index % 3 === 0 ? 'reduced' : 'standard',
      categoryIds: Array.from(
        { length: 10 },
        (_, depth) => `category ${depth === 9 ? 'all' : index + depth}`
      ),
      group: `group ${index % GROUPS}`
    })),
    groups: Array.from({ length: GROUPS }, (_, index) => {
      return {
        key: `group ${index}`,
        method: 'shipping',
        destination: { country: 'DE', postalCode: '10115' }
      } as const
    }),
    promotions: Array.from({ length: promotions }, (_, index) => ({
      class: of(index),
      effect: { type: 'percentage' as const, ppm: 10_000 + index },
      categoryIds: new Set(['category all']),
      needsCode: index < CODES
    })),
    codes: Array.from({ length: Math.min(CODES, promotions) }, (_, index) => `P${index}`),
    taxes: [
      taxed('DE', { standard: 190_000, reduced: 70_000 }),
      ...Array.from({ length: zones }, postalZone)
    ],
    ratesOf: () =>
      ['post', 'express'].map((id, index) => ({
        id,
        methodId: id,
        amountMinor: 490 * (index + 1),
        taxCategory: 'standard'
      }))
  })
}

/** One of many in a country: a range of postal codes with a rate of its own. */
const postalZone = (_: unknown, index: number) =>
  zoneOf({ country: 'DE', region: null, postalCode: `${20_000 + index}-${20_000 + index}` }, [
    { category: 'standard', ppm: 100_000 + index, startsAt: null, endsAt: null }
  ])

/** Of one quote, in rounds of some, in order. */
function millisecondsOf(input: ReturnType<typeof basket>): number[] {
  for (let index = 0; index < WARM_UP; index += 1) computeQuote(input)
  const rounds = Array.from({ length: ROUNDS }, () => {
    const before = process.cpuUsage()
    for (let index = 0; index < QUOTES; index += 1) computeQuote(input)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000 / QUOTES
  })
  return rounds.sort((a, b) => a - b)
}

/** Prints a row for each size, and gives the median of the dearest. */
function table(title: string, sizes: readonly (Size & { name?: string })[]): number {
  print(
    `\n| ${title} | lines | promotions | components | ms: median (least to most) |\n|---|---:|---:|---:|---:|`
  )
  let dearest = 0
  for (const size of sizes) {
    const input = basket(size)
    const rounds = millisecondsOf(input)
    const [least = 0, median = 0, most = 0] = [0, 0.5, 1].map(at => rounds[Math.floor((ROUNDS - 1) * at)])
    const figures = [size.lines, size.promotions, computeQuote(input).components.length]
    const spread = `${median.toFixed(2)} (${least.toFixed(2)} to ${most.toFixed(2)})`
    print(`| ${size.name ?? ''} | ${figures.join(' | ')} | ${spread} |`)
    dearest = Math.max(dearest, median)
  }
  return dearest
}

function sizes(): void {
  const [lines, promotions] = [QUOTE_SIZE_LIMITS.lines, PROMOTIONS_PER_QUOTE_MAX]
  table(
    'growing lines',
    [1, 5, 20, 50, 100, lines].map(each => ({ lines: each, promotions: 10 }))
  )
  table(
    'growing promotions',
    [0, 1, 10, 50, 100, promotions].map(each => ({ lines: 50, promotions: each }))
  )
  table(
    'growing tax zones of a country',
    [0, 100, 1_000, 5_000].map(zones => ({ name: `${zones}`, lines: 5, promotions: 10, zones }))
  )
  const dearest = table('the largest', [
    { name: 'of all classes', lines, promotions },
    { name: 'of lines', lines, promotions, of: () => 'line' },
    { name: 'of the order', lines, promotions, of: () => 'order' },
    { name: 'of the order, a million times as dear', lines, promotions, of: () => 'order', cents: 1_000_000 }
  ])
  print(`\nThe dearest takes ${dearest.toFixed(1)} ms; at most ${MS_MAX} are wanted.`)
}

const part = process.argv[2]
if (part === undefined) sizes()
else if (part === 'takers') await takers()
else throw new Error('Parts: takers.')
