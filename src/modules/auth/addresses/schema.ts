import { Address } from '../../../kernel/address.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, patchRequest, request, response, Time, Version } from '../../../kernel/wire.ts'

const DefaultShipping = Type.Boolean({
  description: 'Whether things are sent there unless another one is chosen; at most one is.'
})
const DefaultBilling = Type.Boolean({
  description: 'Whether invoices are made out to it unless another one is chosen; at most one is.'
})

export const AddAddressRequest = request('AddAddressRequest', {
  address: Address,
  default_shipping: Type.Optional(DefaultShipping),
  default_billing: Type.Optional(DefaultBilling)
})
export type AddAddressRequest = Static<typeof AddAddressRequest>

export const UpdateAddressRequest = patchRequest('UpdateAddressRequest', {
  address: Address,
  default_shipping: DefaultShipping,
  default_billing: DefaultBilling
})
export type UpdateAddressRequest = Static<typeof UpdateAddressRequest>

export const SavedAddressResponse = response('SavedAddressResponse', {
  id: Id,
  address: Address,
  default_shipping: DefaultShipping,
  default_billing: DefaultBilling,
  version: Version,
  created_at: Time,
  updated_at: Time
})
export type SavedAddressResponse = Static<typeof SavedAddressResponse>
