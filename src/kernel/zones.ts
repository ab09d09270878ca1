/** Where something goes: ISO 3166-1 for the country, the region as ISO 3166-2 has it behind the hyphen. */
export type Destination = {
  readonly country: string
  readonly region: string | null
  readonly postalCode: string | null
}

/** Where a rule holds. `postalPattern` is a postal code, or the beginning of some followed by `*`: `902*`. */
export type Zone = {
  readonly id: string
  readonly country: string
  /** Null: all of the country. */
  readonly region: string | null
  readonly postalPattern: string | null
}

/** Postal codes are written with and without spaces and hyphens. */
const bareOf = (postalCode: string): string => postalCode.replace(/[\s-]/g, '').toUpperCase()

function matches(pattern: string, postalCode: string | null): boolean {
  if (postalCode === null) return false
  const [bare, code] = [bareOf(pattern), bareOf(postalCode)]
  return bare.endsWith('*') ? code.startsWith(bare.slice(0, -1)) : code === bare
}

const covers = (zone: Zone, { country, region, postalCode }: Destination): boolean =>
  zone.country === country &&
  (zone.region === null || zone.region === region) &&
  (zone.postalPattern === null || matches(zone.postalPattern, postalCode))

/** A postal code says more than the beginning of one, that more the longer it is, and any of it more than a region. */
function rankOf({ region, postalPattern }: Zone): number {
  const bare = postalPattern === null ? '' : bareOf(postalPattern)
  return 2 * (2 * bare.length - Number(bare.endsWith('*'))) + Number(region !== null)
}

/** The zones that a destination lies in, the most specific first; of equal ones that with the smaller id. */
export const zonesOf = <Z extends Zone>(zones: readonly Z[], destination: Destination): Z[] =>
  zones
    .filter(zone => covers(zone, destination))
    .sort((a, b) => rankOf(b) - rankOf(a) || (a.id < b.id ? -1 : Number(a.id > b.id)))
