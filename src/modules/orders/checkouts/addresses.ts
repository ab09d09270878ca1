import { Address, readAddress } from '../../../kernel/address.ts'
import type { Destination } from '../../../kernel/areas.ts'
import type { Fault } from '../../../kernel/faults.ts'
import { regionFault } from '../../../kernel/regions.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { request, response } from '../../../kernel/wire.ts'

const { name, line1 } = Address.properties
/** An address that somebody may still be writing. */
export const AddressRequest = {
  ...request('AddressRequest', {
    ...Address.properties,
    name: Type.Optional(name),
    line1: Type.Optional(line1)
  }),
  description: 'While it is being written, its country is enough to say what delivery and taxes cost.'
}
export type AddressDraft = Static<typeof AddressRequest>

const Part = Type.Optional(Type.String())
export const AddressResponse = response('AddressResponse', {
  ...{ name: Part, company: Part, line1: Part, line2: Part, city: Part, region: Part, postal_code: Part },
  country: Type.String({ description: 'ISO 3166-1.' }),
  ...{ phone: Part, vat_id: Part }
})

/** The draft as it is kept, and what it lacks until something can be sent there; `path` is its name. */
export function readDraft(draft: AddressDraft, path: string): { address: AddressDraft; faults: Fault[] } {
  const { address, faults } = readAddress({ name: '', line1: '', ...draft }, path)
  const written = Object.entries(address).filter(([, text]) => text !== '')
  return { address: { country: address.country, ...Object.fromEntries(written) }, faults }
}

/** What of a draft keeps from knowing in which of these regions it lies. */
export function regionFaults(
  { country, region }: AddressDraft,
  named: ReadonlySet<string>,
  path: string
): Fault[] {
  const message = regionFault(country, region, named)
  return message === undefined ? [] : [{ path: `${path}/region`, message }]
}

export const destinationOf = ({ country, region, postal_code }: AddressDraft): Destination => ({
  country,
  region,
  postalCode: postal_code
})
