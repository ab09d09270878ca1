import { currencyDecimalPlaces, parseAmount } from '../../src/kernel/money.ts'
import type { QuoteFinding } from '../../src/modules/pricing/quote/findings.ts'
import type {
  DeliveryGroupRateInput,
  Promotion,
  PromotionClass,
  PromotionEffect,
  QuoteInput,
  QuoteLine,
  QuoteShippingOption,
  TaxRounding
} from '../../src/modules/pricing/quote/input.ts'
import type { Quote } from '../../src/modules/pricing/quote/quote.ts'
import { exemption, quoteInput, taxed } from '../support/quotes.ts'

/** The rows of the tables of a page that begin with this column, by their columns. */
type Row = Record<string, string>
export function rowsOf(page: string, firstColumn: string): Row[] {
  const rows: Row[] = []
  let columns: string[] = []
  for (const line of page.split('\n')) {
    const cells = line.split('|').slice(1, -1)
    if (cells.length === 0) columns = []
    else if (columns.length === 0) columns = cells.map(cell => cell.trim())
    else if (columns[0] === firstColumn && !line.startsWith('|---'))
      rows.push(Object.fromEntries(columns.map((column, index) => [column, (cells[index] ?? '').trim()])))
  }
  return rows
}

/** @throws for what is not written as the page says. */
function read(pattern: RegExp, text: string): Record<string, string | undefined> {
  const match = pattern.exec(text)
  if (match === null) throw new Error(`"${text}" is not as the page says`)
  return match.groups ?? {}
}
const partsOf = (text: string, separator: string) => (text === '' ? [] : text.split(separator))
const ppmOf = (percentage: string) => Math.round(Number(percentage.replace(' %', '')) * 10_000)
const cell = (row: Row, column: string): string => {
  const text = row[column]
  if (text === undefined) throw new Error(`there is no column ${column}`)
  return text
}

/** What a row of the page asks for. */
export function inputOf(row: Row, markets: readonly Row[]): QuoteInput {
  const market = markets.find(each => each.Market === row.Market)
  if (market === undefined) throw new Error(`there is no market ${row.Market}`)
  const currency = cell(market, 'Currency')
  const minor = (text = '') => {
    const amount = parseAmount(text, currency)
    if (amount === undefined) throw new Error(`"${text}" is no amount`)
    return amount
  }
  const country = cell(market, 'Market').slice(0, 2)
  const lines = partsOf(cell(row, 'Basket'), ', ').map((text, index) => lineOf(text, index, country, minor))
  const promotions = partsOf(cell(row, 'Promotions'), '; ').map(text => promotionOf(text, currency, minor))
  const { ratesOf, choice, method } = deliveryOf(cell(row, 'Delivery'), market, minor)
  const destinations = [...new Set(lines.map(line => line.group))]
  return quoteInput({
    market: {
      code: cell(market, 'Market'),
      currency,
      countries: [country],
      pricesIncludeTax: market.Prices === 'with tax',
      taxRounding: cell(market, 'Tax is rounded for') as TaxRounding,
      cashRoundingMinor: minor(market['Paid in steps of'])
    },
    buyer: {
      exemptions: row.Buyer === 'exempt' ? [exemption()] : [],
      isFirstOrder: row.Buyer !== 'has ordered'
    },
    lines,
    groups: destinations.map(to => {
      return { key: to, method, choice, destination: { country: to } }
    }),
    promotions: promotions.filter(promotion => promotion.class !== undefined),
    codes: promotions.filter(promotion => promotion.needsCode).map(promotion => promotion.name ?? ''),
    taxes: markets.filter(each => cell(each, 'Market').length === 2).map(zoneOf),
    ratesOf
  })
}

function zoneOf(market: Row) {
  const rates = ['standard', 'reduced', 'zero'].filter(category => cell(market, category) !== '')
  return taxed(
    cell(market, 'Market'),
    Object.fromEntries(rates.map(category => [category, ppmOf(cell(market, category))]))
  )
}

const LINE =
  /^(?<quantity>\d+) x (?:(?<category>\w+)\/)?(?<product>\w+) (?<price>[\d.]+)(?: > (?<sale>[\d.]+))?(?: \((?<tax>\w+)\))?(?: to (?<to>\w\w))?$/

type Minor = (text?: string) => number
type Line = Partial<QuoteLine> & { group: string }
function lineOf(text: string, index: number, country: string, minor: Minor): Line {
  const { quantity, category, product = '', price, sale, tax = 'standard', to = country } = read(LINE, text)
  return {
    key: `${index} ${product}`,
    productId: product,
    categoryIds: category === undefined ? [] : [category],
    quantity: Number(quantity),
    priceMinor: minor(price),
    discountedPriceMinor: minor(sale ?? price),
    taxCategory: tax,
    group: to
  }
}

const PROMOTION =
  /^(?:(?<code>[A-Z]+): )?(?:unknown|(?<of>line|order|shipping) (?<effect>[^,]+)(?<terms>.*))$/
const TERMS: Record<string, (value: string, currency: string, minor: Minor) => Partial<Promotion>> = {
  for: value => ({ productIds: new Set([value]), categoryIds: new Set([value]) }),
  from: (value, currency, minor) => ({ minimumMinor: { [currency]: minor(value) } }),
  'at least': value => ({ minimumQuantity: Number(value) }),
  alone: () => ({ combines: [] }),
  with: value => ({ combines: [value as PromotionClass] }),
  priority: value => ({ priority: Number(value) }),
  'first order': () => ({ firstOrderOnly: true })
}

function promotionOf(text: string, currency: string, minor: Minor): Partial<Promotion> {
  const { code, of, effect = '', terms = '' } = read(PROMOTION, text)
  const name = code === undefined ? { needsCode: false } : { needsCode: true, name: code }
  if (of === undefined) return name
  const promotion = { ...name, class: of as PromotionClass, effect: effectOf(effect, currency, minor) }
  for (const term of partsOf(terms, ', ').slice(1)) {
    const known = Object.entries(TERMS).find(([words]) => term === words || term.startsWith(`${words} `))
    if (known === undefined) throw new Error(`"${term}" is not as the page says`)
    Object.assign(promotion, known[1](term.slice(known[0].length + 1), currency, minor))
  }
  return promotion
}

function effectOf(text: string, currency: string, minor: Minor): PromotionEffect {
  if (text === 'free') return { type: 'free_shipping' }
  if (text.endsWith(' %')) return { type: 'percentage', ppm: ppmOf(text) }
  const { fixed, amount } = read(/^(?<fixed>fixed )?(?<amount>[\d.]+)$/, text)
  return { type: fixed === undefined ? 'amount' : 'fixed_price', minor: { [currency]: minor(amount) } }
}

const DELIVERY =
  /^(?<options>[\d.]+(?: or [\d.]+)*)(?:, free from (?<from>[\d.]+))?(?:, took (?<choice>[\d.]+))?$/
function deliveryOf(text: string, market: Row, minor: Minor) {
  if (text === '') return { method: 'digital', choice: null, ratesOf: () => [] } as const
  const { options = '', from, choice = null } = read(DELIVERY, text)
  const taxCategory = cell(market, 'Shipping is taxed as')
  const ratesOf = ({ valueMinor }: DeliveryGroupRateInput): QuoteShippingOption[] =>
    options.split(' or ').map(id => {
      const isFree = from !== undefined && valueMinor >= minor(from)
      return { id, methodId: id, amountMinor: isFree ? 0 : minor(id), taxCategory }
    })
  return { method: 'shipping', choice, ratesOf } as const
}

/** The columns of a row that say what comes of it, as a quote has them. */
export function resultOf({ lines, totals, findings, currency }: Quote) {
  const decimal = (minor: number) => decimalOf(minor, currency)
  return {
    Lines: lines.map(line => decimal(line.totalMinor)).join(', '),
    Discount: decimal(totals.discountMinor),
    Shipping: decimal(totals.shippingMinor),
    Tax: decimal(totals.taxMinor),
    Total: decimal(totals.totalMinor),
    Told: findings.map(finding => toldOf(finding, decimal)).join(', ')
  }
}

function decimalOf(amountMinor: number, currency: string): string {
  const places = currencyDecimalPlaces[currency] ?? 0
  const digits = String(amountMinor).padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

function toldOf(finding: QuoteFinding, decimal: (minor: number) => string): string {
  if (!('promotionCode' in finding)) return `${finding.group}: ${finding.code}`
  const { promotionCode, code, missing } = finding
  const lack =
    missing && (missing.quantity > 0 ? ` ${missing.quantity} x` : ` ${decimal(missing.amountMinor)}`)
  return `${promotionCode}: ${code}${lack ?? ''}`
}
