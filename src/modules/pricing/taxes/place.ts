import { faultOf, readArea } from '../../../kernel/areas.ts'

type Place = {
  readonly country: string
  readonly region: string | null
  readonly postal_pattern: string | null
}

/** A place as it is stored, in one writing, so that there is one zone of it; or what is wrong with it. */
export function readPlace({ country, region, postal_pattern }: Place): Place | { fault: Fault } {
  const given = { country, region, postalCode: postal_pattern }
  const area = readArea(given)
  if (area !== undefined) return { country, region: area.region, postal_pattern: area.postalCode }
  const { part, message } = faultOf(given)
  return { fault: { field: part === 'region' ? part : 'postal_pattern', message } }
}
type Fault = { readonly field: 'region' | 'postal_pattern'; readonly message: string }
