import { plainPostalCode } from './countries.ts'
import { REGION_FORMS, regionOf, regionsOf } from './regions.ts'

/** Where something goes to. */
export type Destination = {
  readonly country: string
  readonly region?: string | undefined
  readonly postalCode?: string | undefined
}

/** Any country. */
export const ANYWHERE = '*'

/**
 * A part of the world: a country or anywhere, in it a region, and postal codes: a whole one or the first part of one
 * (`SW1A`), all that start alike (`10*`), or a range (`10000-19999`).
 */
export type Area = {
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

/** How many characters the second part of a postal code has, and how many the first one has at least. */
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
 * The same area as it is stored and compared; `undefined` when its region is unknown, or its postal codes have none of the
 * three forms, which `faultOf` then tells.
 */
export function readArea({ country, region, postalCode }: Area): Area | undefined {
  if (country === ANYWHERE) return region === null && postalCode === null ? anywhere : undefined
  const code = region === null ? null : regionOf(country, region)
  const postal = postalCode === null ? null : readPostal(country, postalCode)
  if (code === undefined || postal === undefined) return undefined
  return { country, region: code, postalCode: postal === null ? null : textOf(postal) }
}
const anywhere: Area = { country: ANYWHERE, region: null, postalCode: null }

/** What is wrong with an area that `readArea` knows nothing of. */
export const faultOf = ({ country, region }: Area): { part: 'region' | 'postalCode'; message: string } =>
  region !== null && regionOf(country, region) === undefined
    ? { part: 'region', message: REGION_FORMS }
    : { part: 'postalCode', message: POSTAL_FORMS }
const POSTAL_FORMS = 'must be a code (11455), a beginning (114*) or a range (11400-11499), within one country'

function readPostal(country: string, text: string): Postal | undefined {
  const [, from = '', to = ''] = RANGE.exec(text.trim()) ?? []
  // Ends that are of different lengths are the parts of one code: 00-950.
  if (from !== '' && from.length === to.length)
    return Number(from) > Number(to)
      ? undefined
      : { kind: 'range', from: Number(from), to: Number(to), length: from.length }
  const plain = plainPostalCode(country, text)
  const [, star] = CODE.exec(plain) ?? []
  if (star === undefined) return undefined
  return star === '' ? { kind: 'code', text: plain } : { kind: 'prefix', text: plain.slice(0, -1) }
}

const textOf = (postal: Postal): string =>
  postal.kind === 'range'
    ? `${String(postal.from).padStart(postal.length, '0')}-${String(postal.to).padStart(postal.length, '0')}`
    : postal.text + (postal.kind === 'prefix' ? '*' : '')

/** The regions that areas of one country name. */
export const regionsNamed = (areas: readonly Area[]): ReadonlySet<string> =>
  new Set(areas.flatMap(({ region }) => region ?? []))

/** Where something goes to, as areas are asked about it. */
export type Place = {
  readonly country: string
  readonly regions: readonly string[]
  readonly codes: readonly string[]
}

/** Its region and those around it; a whole code and the part of it that stands for a district by itself: `SW1A1AA` and `SW1A`. */
export function placeOf({ country, region, postalCode }: Destination): Place {
  const code = postalCode === undefined ? '' : plainPostalCode(country, postalCode)
  const parts = PARTS[country]
  const first =
    parts !== undefined && code.length >= parts.first + parts.second ? code.slice(0, -parts.second) : ''
  return {
    country,
    regions: region === undefined ? [] : regionsOf(country, region),
    codes: [code, first].filter(each => each !== '')
  }
}

/** How far an area reaches. Of two around one place the one that reaches less far is meant. */
export type Reach = { readonly countries: number; readonly codes: number; readonly regions: number }
const EVERYTHING = Number.POSITIVE_INFINITY

/** For an area that `readArea` has read: how far it reaches around a place, `undefined` when that lies outside. */
export function reaching({ country, region, postalCode }: Area): (place: Place) => Reach | undefined {
  const postal = postalCode === null ? undefined : readPostal(country, postalCode)
  const countries = country === ANYWHERE ? EVERYTHING : 1
  return place => {
    if (country !== ANYWHERE && country !== place.country) return undefined
    const regions = region === null ? EVERYTHING : place.regions.indexOf(region) + 1
    if (regions === 0) return undefined
    const codes = postal === undefined ? EVERYTHING : codesAround(postal, place.codes)
    return codes === undefined ? undefined : { countries, codes, regions }
  }
}

/** Less than zero when the first one reaches less far. A postal code says more than a region. */
export const compareReach = (one: Reach, other: Reach): number =>
  compare(one.countries, other.countries) ||
  compare(one.codes, other.codes) ||
  compare(one.regions, other.regions)
const compare = (one: number, other: number) => (one < other ? -1 : one > other ? 1 : 0)

/** How many codes it has of the length of this one; `undefined` when this one is none of them. */
function codesAround(postal: Postal, [code, first]: readonly string[]): number | undefined {
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

/** Whether some place lies in both of these, and neither reaches less far around it. */
export function areAlike(one: Area, other: Area): boolean {
  if (one.country !== other.country || one.region !== other.region) return false
  if (one.postalCode === null || other.postalCode === null) return one.postalCode === other.postalCode
  const first = readPostal(one.country, one.postalCode)
  const second = readPostal(one.country, other.postalCode)
  if (first === undefined || second === undefined) return false
  if (first.kind !== 'range' && second.kind !== 'range') return first.text === second.text
  const length = Math.max(...[first, second].map(each => (each.kind === 'range' ? each.length : 0)))
  const [a, b] = [numbersOf(first, one.country, length), numbersOf(second, one.country, length)]
  if (a === undefined || b === undefined) return false
  return a.to - a.from === b.to - b.from && a.from <= b.to && b.from <= a.to
}

/** The codes of this length that it has; `undefined` when it has none. */
function numbersOf(
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
