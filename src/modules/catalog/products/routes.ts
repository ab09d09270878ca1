import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  AdminProductQuery,
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
        summary: 'All products, the newest first',
        querystring: AdminProductQuery,
        response: { 200: listOf(AdminProductSummaryResponse) }
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
        summary: 'A product, in any status',
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
        summary: 'Change a product',
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
      schema: { summary: 'Delete a product with its variants', params: IdParams, response: noContent }
    },
    request => products.remove(request.params.id, writeOf(request))
  )
}
