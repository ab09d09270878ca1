import { normalizeAddress, PostalAddress } from '../../../kernel/address.ts'
import type { DeliveryDestination } from '../../../kernel/areas.ts'
import type { FieldFault } from '../../../kernel/faults.ts'
import { addressRegionFault } from '../../../kernel/regions.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { request, response } from '../../../kernel/wire.ts'

const { name, line1 } = PostalAddress.properties
/** An address that may be incomplete, because the buyer is still typing. */
export const AddressRequest = {
  ...request('AddressRequest', {
    ...PostalAddress.properties,
    name: Type.Optional(name),
    line1: Type.Optional(line1)
  }),
  description: 'The country alone is enough to calculate delivery and taxes while the buyer is typing.'
}
export type AddressDraft = Static<typeof AddressRequest>

const Part = Type.Optional(Type.String())
export const OrderAddressResponse = response('OrderAddressResponse', {
  name: Part,
  company: Part,
  line1: Part,
  line2: Part,
  city: Part,
  region: Part,
  postal_code: Part,
  country: Type.String({ description: 'ISO 3166-1.' }),
  phone: Part,
  vat_id: Part
})

/**
 * Returns a draft address in its stored form, and the faults that make it incomplete. `path`: the field of
 * the address in the request.
 */
export function readAddressDraft(
  draft: AddressDraft,
  path: string
): { address: AddressDraft; faults: FieldFault[] } {
  const { address, faults } = normalizeAddress({ name: '', line1: '', ...draft }, path)
  const filled = Object.entries(address).filter(([, text]) => text !== '')
  return { address: { country: address.country, ...Object.fromEntries(filled) }, faults }
}

/**
 * Returns a fault if taxes or shipping depend on the region of a draft address and the address names no valid
 * region.
 */
export function addressRegionFaults(
  { country, region }: AddressDraft,
  named: ReadonlySet<string>,
  path: string
): FieldFault[] {
  const message = addressRegionFault(country, region, named)
  return message === undefined ? [] : [{ path: `${path}/region`, message }]
}

export const destinationOfAddress = ({
  country,
  region,
  postal_code
}: AddressDraft): DeliveryDestination => ({
  country,
  region,
  postalCode: postal_code
})
