import { normalizePostalCode } from './countries.ts'
import { findRegionCode, REGION_MESSAGE, regionCodesInnermostFirst } from './regions.ts'

/** The destination of a delivery. */
export type DeliveryDestination = {
  readonly country: string
  readonly region?: string | undefined
  readonly postalCode?: string | undefined
}

/** The `country` of an area that contains all countries. */
export const ANY_COUNTRY = '*'

/**
 * An area of delivery: a country or anywhere, optionally with a region and postal codes. Postal codes are a complete one or
 * its first part (`SW1A`), a prefix (`10*`), or a range (`10000-19999`).
 */
export type DeliveryArea = {
  readonly country: string
  readonly region: string | null
  readonly postalCode: string | null
}

type Postal =
  | { readonly kind: 'code'; readonly text: string }
  | { readonly kind: 'prefix'; readonly text: string }
  | { readonly kind: 'range'; readonly from: number; readonly to: number; readonly length: number }

const DIGITS = /^\d+$/
const RANGE = /^(\d{2,10})\s*-\s*(\d{2,10})$/
const CODE = /^[A-Z\d]{1,10}(\*?)$/

/** Countries whose postal codes have two parts: the minimum length of the first and the length of the second. */
const PARTS: Readonly<Record<string, { readonly first: number; readonly second: number }>> = {
  CA: { first: 3, second: 3 },
  GB: { first: 2, second: 3 },
  GG: { first: 3, second: 3 },
  IE: { first: 3, second: 4 },
  IM: { first: 3, second: 3 },
  JE: { first: 3, second: 3 },
  NL: { first: 4, second: 2 },
  US: { first: 5, second: 4 }
}

/**
 * Normalizes an area for storage and comparison. Returns undefined when its region is unknown or its postal codes have none
 * of the three forms; `deliveryAreaFault` then returns the message.
 */
export function normalizeDeliveryArea({
  country,
  region,
  postalCode
}: DeliveryArea): DeliveryArea | undefined {
  if (country === ANY_COUNTRY) return region === null && postalCode === null ? anywhere : undefined
  const code = region === null ? null : findRegionCode(country, region)
  const postal = postalCode === null ? null : readPostal(country, postalCode)
  if (code === undefined || postal === undefined) return undefined
  return { country, region: code, postalCode: postal === null ? null : postalRangeText(postal) }
}
const anywhere: DeliveryArea = { country: ANY_COUNTRY, region: null, postalCode: null }

/** Returns why `normalizeDeliveryArea` rejected an area: its wrong part, and a message. */
export const deliveryAreaFault = ({
  country,
  region
}: DeliveryArea): { part: 'region' | 'postalCode'; message: string } =>
  region !== null && findRegionCode(country, region) === undefined
    ? { part: 'region', message: REGION_MESSAGE }
    : { part: 'postalCode', message: POSTAL_FORMS }
const POSTAL_FORMS = 'must be a code (11455), a beginning (114*) or a range (11400-11499), within one country'

function readPostal(country: string, text: string): Postal | undefined {
  const [, from = '', to = ''] = RANGE.exec(text.trim()) ?? []
  // In the postal codes of an area, two numbers of different lengths are not a range but the two parts of one code:
  // 00-950.
  if (from !== '' && from.length === to.length)
    return Number(from) > Number(to)
      ? undefined
      : { kind: 'range', from: Number(from), to: Number(to), length: from.length }
  const plain = normalizePostalCode(country, text)
  const [, star] = CODE.exec(plain) ?? []
  if (star === undefined) return undefined
  return star === '' ? { kind: 'code', text: plain } : { kind: 'prefix', text: plain.slice(0, -1) }
}

const postalRangeText = (postal: Postal): string =>
  postal.kind === 'range'
    ? `${String(postal.from).padStart(postal.length, '0')}-${String(postal.to).padStart(postal.length, '0')}`
    : postal.text + (postal.kind === 'prefix' ? '*' : '')

/** Returns the distinct regions that these areas of one country name. */
export const regionsOfAreas = (areas: readonly DeliveryArea[]): ReadonlySet<string> =>
  new Set(areas.flatMap(({ region }) => region ?? []))

/** A destination, prepared for matching with areas. */
export type MatchableDestination = {
  readonly country: string
  readonly regions: readonly string[]
  readonly codes: readonly string[]
}

/** Prepares a destination for matching: its region with the larger ones around it; its postal code, also without the last part. */
export function toMatchableDestination({
  country,
  region,
  postalCode
}: DeliveryDestination): MatchableDestination {
  const code = postalCode === undefined ? '' : normalizePostalCode(country, postalCode)
  const parts = PARTS[country]
  const first =
    parts !== undefined && code.length >= parts.first + parts.second ? code.slice(0, -parts.second) : ''
  return {
    country,
    regions: region === undefined ? [] : regionCodesInnermostFirst(country, region),
    codes: [code, first].filter(each => each !== '')
  }
}

/** The size of an area. Of two areas that contain a destination, the smaller one applies. */
export type DeliveryAreaSize = {
  readonly countries: number
  readonly codes: number
  readonly regions: number
}
const EVERYTHING = Number.POSITIVE_INFINITY

/** Returns a function that gives the size of a normalized area for a destination in it; undefined for one outside. */
export function createAreaMatcher({
  country,
  region,
  postalCode
}: DeliveryArea): (place: MatchableDestination) => DeliveryAreaSize | undefined {
  const postal = postalCode === null ? undefined : readPostal(country, postalCode)
  const countries = country === ANY_COUNTRY ? EVERYTHING : 1
  return place => {
    if (country !== ANY_COUNTRY && country !== place.country) return undefined
    const regions = region === null ? EVERYTHING : place.regions.indexOf(region) + 1
    if (regions === 0) return undefined
    const codes = postal === undefined ? EVERYTHING : matchingCodeCount(postal, place.codes)
    return codes === undefined ? undefined : { countries, codes, regions }
  }
}

/** Compares the sizes of two areas: below zero when the first is smaller. Postal codes are compared before regions. */
export const compareAreaSizes = (one: DeliveryAreaSize, other: DeliveryAreaSize): number =>
  compare(one.countries, other.countries) ||
  compare(one.codes, other.codes) ||
  compare(one.regions, other.regions)
const compare = (one: number, other: number) => (one < other ? -1 : one > other ? 1 : 0)

/**
 * Returns how many postal codes as long as `code` the pattern `postal` matches. Returns undefined when it does not match
 * `code`.
 */
function matchingCodeCount(postal: Postal, [code, first]: readonly string[]): number | undefined {
  if (code === undefined) return undefined
  const beyond = (length: number) => 10 ** (code.length - length)
  if (postal.kind === 'prefix') return code.startsWith(postal.text) ? beyond(postal.text.length) : undefined
  if (postal.kind === 'code')
    return code === postal.text || first === postal.text ? beyond(postal.text.length) : undefined
  const { from, to, length } = postal
  const part = code.length === length ? code : first?.length === length ? first : undefined
  const number = DIGITS.test(part ?? '') ? Number(part) : undefined
  return number !== undefined && number >= from && number <= to ? (to - from + 1) * beyond(length) : undefined
}

/** Whether a destination can lie in both areas while both have the same size, so that neither takes precedence. */
export function isAreaPrecedenceAmbiguous(one: DeliveryArea, other: DeliveryArea): boolean {
  if (one.country !== other.country || one.region !== other.region) return false
  if (one.postalCode === null || other.postalCode === null) return one.postalCode === other.postalCode
  const first = readPostal(one.country, one.postalCode)
  const second = readPostal(one.country, other.postalCode)
  if (first === undefined || second === undefined) return false
  if (first.kind !== 'range' && second.kind !== 'range') return first.text === second.text
  const length = Math.max(...[first, second].map(each => (each.kind === 'range' ? each.length : 0)))
  const [a, b] = [numericRange(first, one.country, length), numericRange(second, one.country, length)]
  if (a === undefined || b === undefined) return false
  return a.to - a.from === b.to - b.from && a.from <= b.to && b.from <= a.to
}

/**
 * Returns the first and last postal code of this length that match the pattern `postal`. Returns undefined when none does.
 */
function numericRange(
  postal: Postal,
  country: string,
  length: number
): { from: number; to: number } | undefined {
  if (postal.kind !== 'range' && !DIGITS.test(postal.text)) return undefined
  const [from, to, known] =
    postal.kind === 'range'
      ? [postal.from, postal.to, postal.length]
      : [Number(postal.text), Number(postal.text), postal.text.length]
  const missing = length - known
  const isPart = postal.kind === 'prefix' ? missing >= 0 : missing === 0 || missing === PARTS[country]?.second
  return isPart ? { from: from * 10 ** missing, to: (to + 1) * 10 ** missing - 1 } : undefined
}
