import { createRequire } from 'node:module'
import { countryCodes, isPostalCode, normalizePostalCode, requiredAddressFields } from './countries.ts'
import type { FieldFault } from './faults.ts'
import { type Static, Type } from './schema.ts'
import { normalizeVatId } from './vat-id.ts'
import { input, line } from './wire.ts'

/** A postal address, as on a parcel or an invoice. */
export const PostalAddress = input({
  name: line(255, 'The recipient.'),
  company: Type.Optional(line(255)),
  line1: line(255, 'Street and number, or a post office box.'),
  line2: Type.Optional(line(255)),
  city: Type.Optional(line(255)),
  region: Type.Optional(line(255, 'State, province or county.')),
  postal_code: Type.Optional(line(32)),
  country: Type.Enum(countryCodes, {
    description: 'Country code (ISO 3166-1). It decides which other fields are required.'
  }),
  phone: Type.Optional(
    line(32, 'Phone number, with + and the country code or in the national format of `country`.')
  ),
  vat_id: Type.Optional(line(32))
})
export type PostalAddress = Static<typeof PostalAddress>

/**
 * Normalizes an address for storage: trims fields, converts the phone number to E.164, adds the country to the VAT id.
 * `faults` lists missing and invalid fields; `path` is the address's place in the request.
 */
export function normalizeAddress(
  sent: PostalAddress,
  path: string
): { address: PostalAddress; faults: FieldFault[] } {
  const address = trimmed(sent)
  const { country, postal_code, phone, vat_id } = address
  const faults: FieldFault[] = []
  const refuse = (field: keyof PostalAddress, message: string) =>
    faults.push({ path: `${path}/${field}`, message })

  for (const field of ['name', ...requiredAddressFields(country)] as const)
    if ((address[field] ?? '') === '') refuse(field, 'is required')
  if (postal_code !== undefined && !isPostalCode(country, normalizePostalCode(country, postal_code)))
    refuse('postal_code', `must be a postal code of ${country}`)

  const number = phone === undefined ? undefined : normalizePhone(phone, country)
  if (number === null)
    refuse('phone', `must be a phone number of ${country}, or start with + and the code of its country`)
  const vatId = vat_id === undefined ? undefined : normalizeVatId(vat_id, country)
  if (vatId === null) refuse('vat_id', 'must be a VAT id; one of its characters may be wrong')
  return {
    address: { ...address, ...(number && { phone: number }), ...(vatId && { vat_id: vatId }) },
    faults
  }
}

/** Trims all fields of an address and drops optional ones that are empty. */
function trimmed(address: PostalAddress): PostalAddress {
  const fields = Object.entries(address).map(([field, text]) => [field, text.trim()] as const)
  const { name, line1 } = address
  return {
    country: address.country,
    name: name.trim(),
    line1: line1.trim(),
    ...Object.fromEntries(fields.filter(([, text]) => text !== ''))
  }
}

const require = createRequire(import.meta.url)

/**
 * Returns a phone number in E.164, with the prefix of the address's country when it has none; null when it is invalid. The
 * first call takes 40 ms (2026-11).
 */
export function normalizePhone(text: string, country = ''): string | null {
  const { isSupportedCountry, parsePhoneNumberFromString } =
    require('libphonenumber-js/min') as typeof import('libphonenumber-js/min')
  const parsed = parsePhoneNumberFromString(text, {
    extract: false,
    ...(isSupportedCountry(country) && { defaultCountry: country })
  })
  return parsed?.isPossible() ? parsed.number : null
}
