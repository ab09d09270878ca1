import type { PostalAddress } from '../../../kernel/address.ts'
import type { Metadata, MetadataChange } from '../../../kernel/metadata.ts'
import { countUpTo } from '../../../platform/postgres/counting.ts'
import { declareMetadataLimitConstraint, mergedMetadataSql } from '../../../platform/postgres/metadata.ts'
import { json, statement } from '../../../platform/postgres/statement.ts'

const ADDRESS = {
  id: 'uuid',
  address: json<PostalAddress>(),
  default_shipping: 'bool',
  default_billing: 'bool',
  version: 'int4',
  created_at: 'timestamptz',
  updated_at: 'timestamptz',
  metadata: json<Metadata>()
} as const
declareMetadataLimitConstraint('auth.addresses')

/** Serializes changes of this user's addresses until `tx` ends. */
export const lockUserAddresses = statement({
  name: 'auth.lock_addresses',
  takes: { userId: 'uuid' },
  gives: { id: 'uuid' },
  text: 'select id from auth.users where id = $userId for update'
})
export const listAddresses = statement({
  name: 'auth.list_addresses',
  takes: { userId: 'uuid', after: 'uuid', limit: 'int8' },
  gives: ADDRESS,
  text: `
    select id, address, default_shipping, default_billing, version, created_at, updated_at, metadata from auth.addresses
    where user_id = $userId and id < $after order by id desc limit $limit`
})
export const countAddresses = statement({
  name: 'auth.count_addresses',
  takes: { userId: 'uuid' },
  gives: { total: 'int4' },
  text: countUpTo('auth.addresses where user_id = $userId')
})
export const findAddressOfUser = statement({
  name: 'auth.find_address',
  takes: { id: 'uuid', userId: 'uuid' },
  gives: ADDRESS,
  text: `
    select id, address, default_shipping, default_billing, version, created_at, updated_at, metadata from auth.addresses
    where id = $id and user_id = $userId`
})
/** Removes the default mark from the user's other addresses. */
export const clearOtherDefaultAddresses = statement({
  name: 'auth.clear_default_addresses',
  takes: { id: 'uuid', userId: 'uuid', shipping: 'bool', billing: 'bool' },
  text: `
    update auth.addresses set
      default_shipping = default_shipping and not $shipping,
      default_billing = default_billing and not $billing,
      version = version + 1, updated_at = now()
    where user_id = $userId and id <> $id
      and ((default_shipping and $shipping) or (default_billing and $billing))`
})
export const insertAddress = statement({
  name: 'auth.insert_address',
  takes: {
    id: 'uuid',
    userId: 'uuid',
    address: json<PostalAddress>(),
    shipping: 'bool',
    billing: 'bool',
    metadata: json<MetadataChange>()
  },
  text: `
    insert into auth.addresses (id, user_id, address, default_shipping, default_billing, metadata)
    values ($id, $userId, $address, $shipping, $billing, ${mergedMetadataSql("'{}'::jsonb", '$metadata')})`
})
export const updateAddress = statement({
  name: 'auth.update_address',
  takes: {
    id: 'uuid',
    address: json<PostalAddress>(),
    shipping: 'bool',
    billing: 'bool',
    metadata: json<MetadataChange>()
  },
  text: `
    update auth.addresses set
      address = $address, default_shipping = $shipping, default_billing = $billing,
      metadata = ${mergedMetadataSql('metadata', '$metadata')},
      version = version + 1, updated_at = now()
    where id = $id`
})
export const deleteAddress = statement({
  name: 'auth.delete_address',
  takes: { id: 'uuid' },
  text: 'delete from auth.addresses where id = $id'
})
