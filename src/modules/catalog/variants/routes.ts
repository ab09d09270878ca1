import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import { CreateVariantRequest, UpdateVariantRequest, VersionedVariantResponse } from './schema.ts'
import type { VariantService } from './service.ts'

const config = { class: 'account' } as const

/** The ETag of a variant is the version of its product. */
export function variantRoutes(tiers: Tiers, variants: VariantService): void {
  tiers.admin.post(
    '/catalog/products/:id/variants',
    {
      config,
      schema: {
        summary: 'Add a variant',
        description:
          'Adds a variant to a product. It needs a value for each option of the product. 400 `CATALOG_VARIANTS_INVALID`: `errors` lists attributes, prices or quantities to correct. 404 `CATALOG_PRODUCT_NOT_FOUND`: the product does not exist. 409 `CATALOG_SKU_TAKEN`: choose another SKU. 409 `CATALOG_VARIANT_LIMIT`: `variants_max` is the maximum per product. 412 `CATALOG_PRODUCT_STALE`: the product has changed since; read it again.',
        params: IdParams,
        body: CreateVariantRequest,
        response: { 201: VersionedVariantResponse }
      }
    },
    request => variants.create(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.patch(
    '/catalog/variants/:id',
    {
      config,
      schema: {
        summary: 'Update a variant',
        description:
          'Updates a variant; omitted fields stay. Set `active` to false to stop selling it. `If-Match` takes the version of the product. 400 `CATALOG_VARIANTS_INVALID`: `errors` lists attributes, prices or quantities to correct. 409 `CATALOG_SKU_TAKEN`: choose another SKU. 412 `CATALOG_PRODUCT_STALE`: the product has changed since; read it again.',
        params: IdParams,
        body: UpdateVariantRequest,
        response: { 200: VersionedVariantResponse }
      }
    },
    request => variants.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/variants/:id',
    {
      config,
      schema: {
        summary: 'Delete a variant',
        description:
          'Deletes a variant. Carts show it as unavailable; orders keep it. `If-Match` takes the version of the product. 404 `CATALOG_VARIANT_NOT_FOUND`: it does not exist. 412 `CATALOG_PRODUCT_STALE`: the product has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => variants.remove(request.params.id, writeOf(request))
  )
}
