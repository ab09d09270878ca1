import type { FastifyReply, FastifyRequest } from 'fastify'
import { callerNetwork } from '../../../gateway/callers/rate-limits.ts'
import { allowSharedCaching, keepResponseWhile } from '../../../gateway/kept-responses.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { listOf, MarketHeaders, marketParameters } from '../../../kernel/wire.ts'
import type { ResolveRequestMarket } from '../../pricing/index.ts'
import { IdOrSlugParams } from '../products/fields.ts'
import type { CatalogPage } from '../revision/page-cache.ts'
import {
  CategoryDetailResponse,
  CategoryTreeResponse,
  ProductListQuery,
  ProductResponse,
  ProductSummaryResponse
} from './schema.ts'
import type { CatalogStorefrontService } from './service.ts'

const config = { class: 'browse', cache: 'public' } as const
/** Keys by which a shared cache purges pages. All pages have the first. */
const CATALOG = 'catalog'
const LIST_KEYS = [CATALOG, 'catalog-list']

export function catalogStorefrontRoutes(
  tiers: Tiers,
  storefront: CatalogStorefrontService,
  marketOf: ResolveRequestMarket,
  sharedCacheSeconds: number
): void {
  /** Sends JSON text. A test checks that it matches the schema of the response. */
  function sendPage(
    request: FastifyRequest,
    reply: FastifyReply,
    { json, isCurrent, changesInMs }: CatalogPage,
    { keys = [CATALOG], isFirstPage = false } = {}
  ): FastifyReply {
    keepResponseWhile(request, isCurrent, { isFirstPage })
    allowSharedCaching(reply, { seconds: sharedCacheSeconds, changesInMs: changesInMs(), keys })
    return reply.header('content-type', 'application/json; charset=utf-8').send(json)
  }

  tiers.public.get(
    '/products',
    {
      config,
      schema: {
        summary: 'List products',
        description:
          'Returns a page of active products, at the prices of the market. Filter by category, tag, price or stock, or search with `q`. Needs no token. 400 `INVALID_CURSOR`: the cursor belongs to another query; start at the first page. 429 `CATALOG_LIST_LIMIT`: too many simultaneous lists from this network; wait for `Retry-After`.',
        querystring: ProductListQuery,
        headers: MarketHeaders,
        response: { 200: listOf(ProductSummaryResponse) }
      }
    },
    async (request, reply) =>
      sendPage(
        request,
        reply,
        await storefront.listProducts(request.query, await marketOf(request), callerNetwork(request)),
        { keys: LIST_KEYS, isFirstPage: request.query.cursor === undefined }
      )
  )

  tiers.public.get(
    '/products/:id',
    {
      config,
      schema: {
        ...marketParameters,
        summary: 'Retrieve a product',
        description:
          'Returns an active product by id or slug, with the variants that are for sale in the market. Needs no token. 404 `CATALOG_PRODUCT_NOT_FOUND`: it does not exist or is not active.',
        params: IdOrSlugParams,
        response: { 200: ProductResponse }
      }
    },
    async (request, reply) => {
      const page = await storefront.readProduct(request.params.id, await marketOf(request))
      return sendPage(request, reply, page, { keys: [CATALOG, `product-${idInJson(page.json)}`] })
    }
  )

  tiers.public.get(
    '/categories',
    {
      config,
      schema: {
        summary: 'List categories',
        description: 'Returns all categories as a tree, sorted by `position`. Needs no token.',
        response: { 200: CategoryTreeResponse }
      }
    },
    async (request, reply) =>
      sendPage(request, reply, await storefront.listCategories(), { isFirstPage: true })
  )

  tiers.public.get(
    '/categories/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a category',
        description:
          'Returns a category by id or slug, with its ancestors and the categories directly below it. Needs no token. 404 `CATALOG_CATEGORY_NOT_FOUND`: it does not exist.',
        params: IdOrSlugParams,
        response: { 200: CategoryDetailResponse }
      }
    },
    async (request, reply) => sendPage(request, reply, await storefront.readCategory(request.params.id))
  )
}

/** Returns the id of a product, which is the first member of its page. */
const idInJson = (json: string): string | undefined => /^\{"id":"([^"]+)"/.exec(json)?.[1]
