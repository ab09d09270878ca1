import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { changeListResponse } from '../../../kernel/change-lists.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import {
  AdminProductListQuery,
  AdminProductResponse,
  AdminProductSummaryResponse,
  CreateProductRequest,
  UpdateProductRequest
} from './schema.ts'
import type { ProductService } from './service.ts'

const config = { class: 'account' } as const

export function productRoutes(tiers: Tiers, products: ProductService): void {
  tiers.admin.get(
    '/catalog/products',
    {
      config,
      schema: {
        summary: 'List products of any status',
        description:
          'Returns a page of products for administrators, newest first. Drafts and archived products are included. Filter by `status`, or search with `q`. Poll for changes of products and their variants with `updated_since`. 400 `UPDATED_SINCE_FILTERED`: send `updated_since` without filters.',
        querystring: AdminProductListQuery,
        response: { 200: changeListResponse(AdminProductSummaryResponse) }
      }
    },
    request => products.list(request.query)
  )

  tiers.admin.post(
    '/catalog/products',
    {
      config,
      schema: {
        summary: 'Create a product',
        description:
          'Creates a product, with variants if they are sent. The slug is made from the name unless it is sent. 400 `CATALOG_SLUG_NEEDED`: the name has no letter or digit; send a `slug`. 400 `CATALOG_VARIANTS_INVALID`: `errors` lists options, prices or quantities to correct. 404 `CATALOG_CATEGORY_NOT_FOUND`: an id of `category_ids` does not exist. 409 `CATALOG_SLUG_TAKEN` or `CATALOG_SKU_TAKEN`: choose another one.',
        body: CreateProductRequest,
        response: { 201: AdminProductResponse }
      }
    },
    request => products.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/catalog/products/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a product of any status',
        description:
          'Returns a product for administrators, with all its variants and its version. 404 `CATALOG_PRODUCT_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: AdminProductResponse }
      }
    },
    request => products.read(request.params.id)
  )

  tiers.admin.patch(
    '/catalog/products/:id',
    {
      config,
      schema: {
        summary: 'Update a product',
        description:
          'Updates a product; omitted fields stay. Variants have operations of their own. 400 `CATALOG_VARIANTS_INVALID`: the status or options do not fit the variants; see `errors`. 404 `CATALOG_CATEGORY_NOT_FOUND`: an id of `category_ids` does not exist. 409 `CATALOG_SLUG_TAKEN`: choose another slug. 412 `CATALOG_PRODUCT_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateProductRequest,
        response: { 200: AdminProductResponse }
      }
    },
    request => products.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/catalog/products/:id',
    {
      config,
      schema: {
        summary: 'Delete a product',
        description:
          'Deletes a product with its variants and discounts. Carts show the variants as unavailable; orders keep them. To stop selling it only, set `status` to "archived". 404 `CATALOG_PRODUCT_NOT_FOUND`: it does not exist. 412 `CATALOG_PRODUCT_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => products.remove(request.params.id, writeOf(request))
  )
}
