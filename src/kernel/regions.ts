import { createRequire } from 'node:module'

/** How to write a region, for the error about an unknown one. */
export const REGION_MESSAGE =
  'must be a region of the country: its code or its name by ISO 3166-2, such as CA or California in US'

/** Returns the code of a region (`CA`) from any spelling (`us-ca`, `California`); `undefined` when it is unknown. */
export const findRegionCode = (country: string, text: string): string | undefined =>
  regionCodesInnermostFirst(country, text)[0]

/**
 * Returns the codes of a region and of the regions around it, innermost first: Barcelona, Catalonia. Empty when the region is
 * unknown or its name is ambiguous.
 */
export function regionCodesInnermostFirst(country: string, text: string): readonly string[] {
  const known = regions.get(country) ?? readRegions(country)
  regions.set(country, known)
  return known.get(plain(text)) ?? []
}
const regions = new Map<string, ReadonlyMap<string, readonly string[]>>()

/** A region in a list. `within`: the code of the region around it; null directly below its country. */
export type Region = { readonly code: string; readonly name: string; readonly within: string | null }

/** Returns all regions of a country, sorted by name. */
export const listRegionsOfCountry = (country: string): Region[] =>
  (subdivisions().get(country) ?? [])
    .map(({ code, name, parent }) => ({
      code: code.slice(country.length + 1),
      name,
      within: parent === country ? null : parent.slice(country.length + 1)
    }))
    .sort((a, b) => a.name.localeCompare(b.name, 'en') || (a.code < b.code ? -1 : 1))

/**
 * Returns why `text` does not determine in which of the `named` regions an address lies; undefined when it does.
 */
export function addressRegionFault(
  country: string,
  text: string | undefined,
  named: ReadonlySet<string>
): string | undefined {
  if (named.size === 0) return undefined
  if (text === undefined) return 'is required'
  const code = findRegionCode(country, text)
  if (code === undefined) return REGION_MESSAGE
  const inner = [...named].find(each => regionCodesInnermostFirst(country, each).indexOf(code) > 0)
  return inner && `must be a smaller region within ${code}, such as ${inner}`
}

/** Indexes the regions of a country by all their spellings. */
function readRegions(country: string): ReadonlyMap<string, readonly string[]> {
  const own = subdivisions().get(country) ?? []
  const parentOf = new Map(own.map(({ code, parent }) => [code, parent]))
  const outwards = (code: string): string[] => {
    const parent = parentOf.get(code)
    return parent === undefined ? [] : [code.slice(country.length + 1), ...outwards(parent)]
  }
  const known = new Map<string, readonly string[]>()
  for (const [name, [first, ...others]] of Map.groupBy(own, ({ name }) => plain(name)))
    if (first !== undefined && others.length === 0) known.set(name, outwards(first.code))
  // Codes are indexed after the names, because a code takes precedence over an equal name.
  for (const { code } of own)
    for (const text of [code, code.slice(country.length)]) known.set(plain(text), outwards(code))
  return known
}

/** Normalizes a spelling: capitals, no accents, one width, and a space for characters that are neither letter nor digit. */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** `parent`: the code of the region that it lies in, or of its country. */
type Subdivision = { readonly code: string; readonly parent: string; readonly name: string }
/** Postal regions that ISO 3166-2 lacks. */
const ARMED_FORCES: readonly Subdivision[] = [
  { code: 'US-AA', parent: 'US', name: 'Armed Forces Americas' },
  { code: 'US-AE', parent: 'US', name: 'Armed Forces Europe' },
  { code: 'US-AP', parent: 'US', name: 'Armed Forces Pacific' }
]

const require = createRequire(import.meta.url)
let byCountry: ReadonlyMap<string, readonly Subdivision[]> | undefined

/** Returns the subdivisions by country. Loads them on first use, because that takes 12 ms (2026-11). */
function subdivisions() {
  const { iso31662 } = require('iso-3166/2.js') as typeof import('iso-3166/2.js')
  byCountry ??= Map.groupBy([...iso31662, ...ARMED_FORCES], ({ code }) => code.slice(0, 2))
  return byCountry
}
