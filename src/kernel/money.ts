import { createLruCache } from './lru-cache.ts'

/**
 * The number of decimal places of each currency. Money is an integer in minor units. The list is fixed here (ISO 4217, list
 * one of 2026-01-01), because the tables of `Intl` change with the runtime.
 */
export const currencyDecimalPlaces: Readonly<Record<string, 0 | 2 | 3>> = Object.freeze({
  ...exponent(0, 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF'),
  ...exponent(3, 'BHD IQD JOD KWD LYD OMR TND'),
  ...exponent(
    2,
    'AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CNY COP CRC ' +
      'CUP CVE CZK DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR ' +
      'JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD ' +
      'NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN ' +
      'SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD UYU UZS VES WST XCD XCG YER ZAR ZMW ZWG'
  )
})

function exponent<E extends 0 | 2 | 3>(places: E, codes: string): Record<string, E> {
  return Object.fromEntries(codes.split(' ').map(code => [code, places]))
}

/** The largest amount that a request may contain. Sums of such amounts stay far below 2^53. */
export const AMOUNT_MAX = 100_000_000_000

/**
 * Parses a decimal such as `19.99` or `500` as minor units. Returns undefined for signs, exponents, thousands separators, more
 * decimal places than the currency has, and amounts above AMOUNT_MAX.
 */
export function parseAmount(decimal: string, currency: string): number | undefined {
  const places = Object.hasOwn(currencyDecimalPlaces, currency) ? currencyDecimalPlaces[currency] : undefined
  const match = /^(\d{1,15})(?:\.(\d{1,6}))?$/.exec(decimal.trim())
  if (places === undefined || match === null) return undefined
  const [, whole = '', fraction = ''] = match
  if (/[1-9]/.test(fraction.slice(places))) return undefined
  const amount = Number(whole + fraction.slice(0, places).padEnd(places, '0'))
  return amount <= AMOUNT_MAX ? amount : undefined
}

/**
 * Returns the quotient and the remainder of `amount * numerator / denominator`. Exact for all non-negative amounts: a product
 * beyond 2^53 is calculated as a `bigint`.
 */
export function multiplyFractionWithRemainder(
  amount: number,
  numerator: number,
  denominator: number
): Division {
  const product = amount * numerator
  if (Number.isSafeInteger(product)) {
    const rest = product % denominator
    return { whole: (product - rest) / denominator, rest }
  }
  const exact = BigInt(amount) * BigInt(numerator)
  const divisor = BigInt(denominator)
  return { whole: Number(exact / divisor), rest: Number(exact % divisor) }
}
type Division = { whole: number; rest: number }

/** Returns `amount * numerator / denominator`, rounded half up once. */
export function multiplyFractionRounded(amount: number, numerator: number, denominator: number): number {
  const { whole, rest } = multiplyFractionWithRemainder(amount, numerator, denominator)
  return rest >= denominator - rest ? whole + 1 : whole
}

const PPM = 1_000_000

/** Returns the amount times a rate in parts per million, rounded half up. */
export const multiplyByRatePpm = (amount: number, ppm: number): number =>
  multiplyFractionRounded(amount, ppm, PPM)

/** Removes an added rate in parts per million, such as a tax from a gross price. Rounds half up. */
export const amountBeforeRatePpm = (amount: number, ppm: number): number =>
  multiplyFractionRounded(amount, PPM, PPM + ppm)

/** Formats minor units as a decimal that `parseAmount` reads: 1850 of USD is `18.50`. The amount must not be negative. */
export function formatAmount(amount: number, currency: string): string {
  const places =
    (Object.hasOwn(currencyDecimalPlaces, currency) ? currencyDecimalPlaces[currency] : undefined) ?? 0
  const digits = String(amount).padStart(places + 1, '0')
  return places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
}

/** Creating a formatter costs 30 times as much as formatting. */
const formats = createLruCache<Intl.NumberFormat>({ entriesMax: 100, sizeMax: 100, sizeOf: () => 1 })

function moneyFormatOf(locale: string, currency: string): Intl.NumberFormat {
  const key = `${locale} ${currency}`
  const known = formats.get(key)
  if (known !== undefined) return known
  const digits = Object.hasOwn(currencyDecimalPlaces, currency) ? currencyDecimalPlaces[currency] : 0
  const [minimumFractionDigits, maximumFractionDigits] = [digits, digits]
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    minimumFractionDigits,
    maximumFractionDigits
  })
  formats.set(key, format)
  return format
}

/**
 * Formats minor units in a locale: 123450 of EUR in `de` is `1.234,50 €`. Formats the decimal text, so that no floating-point
 * number rounds it. The amount may be negative.
 */
export function formatMoney(locale: string, amount: number, currency: string): string {
  const decimal = `${amount < 0 ? '-' : ''}${formatAmount(Math.abs(amount), currency)}`
  return moneyFormatOf(locale, currency).format(decimal as Intl.StringNumericLiteral)
}
