import type { FastifyReply } from 'fastify'
import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { inMarket, listOf, MarketHeaders } from '../../../kernel/wire.ts'
import type { MarketOf } from '../../pricing/index.ts'
import { IdOrSlugParams } from '../products/fields.ts'
import {
  CategoryDetailResponse,
  CategoryTreeResponse,
  ProductQuery,
  ProductResponse,
  ProductSummaryResponse
} from './schema.ts'
import type { Storefront } from './service.ts'

const config = { class: 'browse', cache: 'public' } as const

export function storefrontRoutes(tiers: Tiers, storefront: Storefront, marketOf: MarketOf): void {
  tiers.public.get(
    '/products',
    {
      config,
      schema: {
        summary: 'Products, page by page',
        querystring: ProductQuery,
        headers: MarketHeaders,
        response: { 200: listOf(ProductSummaryResponse) }
      }
    },
    async (request, reply) =>
      sendJson(
        reply,
        await storefront.listProducts(request.query, await marketOf(request), byAddress(request))
      )
  )

  tiers.public.get(
    '/products/:id',
    {
      config,
      schema: {
        ...inMarket,
        summary: 'A product with its variants',
        params: IdOrSlugParams,
        response: { 200: ProductResponse }
      }
    },
    async (request, reply) =>
      sendJson(reply, await storefront.readProduct(request.params.id, await marketOf(request)))
  )

  tiers.public.get(
    '/categories',
    { config, schema: { summary: 'The tree of categories', response: { 200: CategoryTreeResponse } } },
    async (_request, reply) => sendJson(reply, await storefront.listCategories())
  )

  tiers.public.get(
    '/categories/:id',
    {
      config,
      schema: { summary: 'A category', params: IdOrSlugParams, response: { 200: CategoryDetailResponse } }
    },
    async (request, reply) => sendJson(reply, await storefront.readCategory(request.params.id))
  )
}

/** Text that is JSON already; the schema of the answer describes it and is checked by a test. */
function sendJson(reply: FastifyReply, json: string): FastifyReply {
  return reply.header('content-type', 'application/json; charset=utf-8').send(json)
}
