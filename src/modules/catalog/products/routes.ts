import type { FastifyReply } from 'fastify'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Type } from '../../../kernel/schema.ts'
import { IdParams, listOf } from '../../../kernel/wire.ts'
import {
  AdminProductQuery,
  AdminProductResponse,
  AdminProductSummaryResponse,
  CreateProductRequest,
  type AdminProductResponse as Product,
  UpdateProductRequest
} from './schema.ts'
import type { ProductService } from './service.ts'

const tags = ['catalog']
const config = { class: 'account' } as const

export function productRoutes(tiers: Tiers, products: ProductService): void {
  tiers.admin.get(
    '/catalog/products',
    {
      config,
      schema: {
        tags,
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
        tags,
        summary: 'Create a product',
        body: CreateProductRequest,
        response: { 201: AdminProductResponse }
      }
    },
    async (request, reply) => send(reply.code(201), await products.create(request.body, writeOf(request)))
  )

  tiers.admin.get(
    '/catalog/products/:id',
    {
      config,
      schema: {
        tags,
        summary: 'A product, in any status',
        params: IdParams,
        response: { 200: AdminProductResponse }
      }
    },
    async (request, reply) => send(reply, await products.read(request.params.id))
  )

  tiers.admin.patch(
    '/catalog/products/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Change a product',
        params: IdParams,
        body: UpdateProductRequest,
        response: { 200: AdminProductResponse }
      }
    },
    async (request, reply) =>
      send(reply, await products.patch(request.params.id, request.body, writeOf(request)))
  )

  tiers.admin.delete(
    '/catalog/products/:id',
    {
      config,
      schema: {
        tags,
        summary: 'Delete a product with its variants',
        params: IdParams,
        response: { 204: Type.Null() }
      }
    },
    async (request, reply) => {
      await products.remove(request.params.id, writeOf(request))
      return reply.code(204).send(null)
    }
  )
}

const send = (reply: FastifyReply, product: Product) =>
  reply.header('etag', `"${product.version}"`).send(product)
