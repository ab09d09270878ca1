import { PostalAddress } from '../../../kernel/address.ts'
import { customerMetadataRequestFields, publicMetadataResponseFields } from '../../../kernel/metadata.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, patchRequest, request, response, Time, Version } from '../../../kernel/wire.ts'

const DefaultShipping = Type.Boolean({
  description: 'Whether this is the default shipping address. An account has one at most.'
})
const DefaultBilling = Type.Boolean({
  description: 'Whether this is the default billing address. An account has one at most.'
})

export const AddAddressRequest = request('AddAddressRequest', {
  address: PostalAddress,
  default_shipping: Type.Optional(DefaultShipping),
  default_billing: Type.Optional(DefaultBilling),
  ...customerMetadataRequestFields
})
export type AddAddressRequest = Static<typeof AddAddressRequest>

export const UpdateAddressRequest = patchRequest('UpdateAddressRequest', {
  address: PostalAddress,
  default_shipping: DefaultShipping,
  default_billing: DefaultBilling,
  ...customerMetadataRequestFields
})
export type UpdateAddressRequest = Static<typeof UpdateAddressRequest>

export const SavedAddressResponse = response('SavedAddressResponse', {
  id: Id,
  address: PostalAddress,
  default_shipping: DefaultShipping,
  default_billing: DefaultBilling,
  ...publicMetadataResponseFields,
  version: Version,
  created_at: Time,
  updated_at: Time
})
export type SavedAddressResponse = Static<typeof SavedAddressResponse>
