import { createRequire } from 'node:module'
import { countries, isPostalCode, plainPostalCode, requiredFieldsOf } from './countries.ts'
import type { Fault } from './faults.ts'
import { type Static, Type } from './schema.ts'
import { readVatId } from './vat-id.ts'
import { input, line } from './wire.ts'

/** Where somebody lives or works, as it is written on a parcel or an invoice. */
export const Address = input({
  name: line(255, 'Of whoever it is for.'),
  company: Type.Optional(line(255)),
  line1: line(255, 'Street and number, or what stands in their place.'),
  line2: Type.Optional(line(255)),
  city: Type.Optional(line(255)),
  region: Type.Optional(line(255, 'State, province or county.')),
  postal_code: Type.Optional(line(32)),
  country: Type.Enum(countries, {
    description: 'ISO 3166-1. Which other fields are required depends on it.'
  }),
  phone: Type.Optional(line(32, 'With the code of its country, or as it is dialled in this one.')),
  vat_id: Type.Optional(line(32))
})
export type Address = Static<typeof Address>

/**
 * An address as it is kept: without spaces around its fields, the phone number as E.164, the VAT id with its country.
 * `faults` says what it lacks, or what is wrong with it; `path` is where in the request it stands.
 */
export function readAddress(sent: Address, path: string): { address: Address; faults: Fault[] } {
  const address = trimmed(sent)
  const { country, postal_code, phone, vat_id } = address
  const faults: Fault[] = []
  const refuse = (field: keyof Address, message: string) => faults.push({ path: `${path}/${field}`, message })

  for (const field of ['name', ...requiredFieldsOf(country)] as const)
    if ((address[field] ?? '') === '') refuse(field, 'is required')
  if (postal_code !== undefined && !isPostalCode(country, plainPostalCode(country, postal_code)))
    refuse('postal_code', `must be a postal code of ${country}`)

  const number = phone === undefined ? undefined : readPhone(phone, country)
  if (number === null)
    refuse('phone', `must be a phone number of ${country}, or start with + and the code of its country`)
  const vatId = vat_id === undefined ? undefined : readVatId(vat_id, country)
  if (vatId === null) refuse('vat_id', 'must be a VAT id; one of its characters may be wrong')
  return {
    address: { ...address, ...(number && { phone: number }), ...(vatId && { vat_id: vatId }) },
    faults
  }
}

/** Without spaces around; of what may be left out, without what is empty then. */
function trimmed(address: Address): Address {
  const fields = Object.entries(address).map(([field, text]) => [field, text.trim()] as const)
  const { name, line1 } = address
  return {
    ...{ country: address.country, name: name.trim(), line1: line1.trim() },
    ...Object.fromEntries(fields.filter(([, text]) => text !== ''))
  }
}

const require = createRequire(import.meta.url)

/** As E.164, of this country where it has no code of one; `null` when nobody could be called there. Its tables are loaded with the first number: 40 ms (2026-11). */
export function readPhone(text: string, country = ''): string | null {
  const { isSupportedCountry, parsePhoneNumberFromString } =
    require('libphonenumber-js/min') as typeof import('libphonenumber-js/min')
  const parsed = parsePhoneNumberFromString(text, {
    extract: false,
    ...(isSupportedCountry(country) && { defaultCountry: country })
  })
  return parsed?.isPossible() ? parsed.number : null
}
