import type { Metadata, MetadataChange } from '../../../kernel/metadata.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import { declareMetadataLimitConstraint, mergedMetadataSql } from '../../../platform/postgres/metadata.ts'
import { json, statement } from '../../../platform/postgres/statement.ts'
import type { StoredCart } from './repository.ts'

declareMetadataLimitConstraint('cart.carts')
declareMetadataLimitConstraint('cart.items')

// An empty cart of a customer with metadata never expires.
const updateMetadata = statement({
  name: 'cart.update_metadata',
  takes: { cartId: 'uuid', metadata: json<MetadataChange>() },
  gives: { version: 'int4', updated_at: 'timestamptz', metadata: json<Metadata>() },
  text: `
    update cart.carts set
      metadata = ${mergedMetadataSql('metadata', '$metadata')}, version = version + 1, updated_at = clock_timestamp(),
      expires_at = case
        when quantity = 0 and not exists (select from cart.guest_carts where guest_carts.cart_id = $cartId) then 'infinity'
        else expires_at
      end
    where cart_id = $cartId
    returning version, updated_at, metadata`
})

/** Changes the metadata of a locked cart. @throws `METADATA_LIMIT` */
export async function saveCartMetadata(
  tx: Transaction,
  cartId: string,
  change: MetadataChange
): Promise<Omit<StoredCart, 'lines'>> {
  const updated = await tx.first(updateMetadata, { cartId, metadata: change })
  if (updated === undefined) throw new Error('a locked cart does not exist')
  const { version, updated_at: updatedAt, metadata } = updated
  return { version, updatedAt, metadata }
}
