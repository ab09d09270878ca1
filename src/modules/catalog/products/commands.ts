import {
  type MetadataRequest,
  parseMetadataRequest,
  pickUpdatedMetadataFields,
  type UpdatedMetadata
} from '../../../kernel/metadata-request.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { ProductService } from './service.ts'

/** Products for other modules. The routes of `/api/catalog/products` call the same functions. */
export type ProductCommands = {
  /**
   * Changes the metadata of a product: a sent key is set, null deletes it, other keys stay. Raises the version and emits
   * `catalog.product_changed`. If the metadata stays equal, it does neither, so a subscriber of that event can call it. A repeated request changes nothing; a retried job sets the same keys again. Opens its own
   * transaction, which locks the product until the commit.
   * @throws `CATALOG_PRODUCT_NOT_FOUND`, `METADATA_LIMIT`, `METADATA_INVALID`
   * @example
   * const [variant] = await catalog.quote(db, [{ variantId, quantity: 1 }], null)
   * const change = { metadata: { season: 'autumn' }, private_metadata: { supplier: 'Engines AB' } }
   * const updated = await catalog.products.updateMetadata(variant?.productId ?? '', change, newWrite())
   * assert.deepEqual(updated.private_metadata, { supplier: 'Engines AB' })
   */
  updateMetadata(productId: string, change: MetadataRequest, write: IdempotentWrite): Promise<UpdatedMetadata>
}

export const createProductCommands = ({ patch }: Pick<ProductService, 'patch'>): ProductCommands => ({
  updateMetadata: async (id, change, write) => {
    const { metadata, private_metadata } = parseMetadataRequest(change)
    const fields = { ...(metadata && { metadata }), ...(private_metadata && { private_metadata }) }
    return pickUpdatedMetadataFields(await patch(id, fields, write))
  }
})
