import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import type { MarketDirectory } from './directory.ts'
import {
  CreateMarketRequest,
  MarketParams,
  MarketResponse,
  PublicMarketsResponse,
  UpdateMarketRequest
} from './schema.ts'
import type { MarketService } from './service.ts'

const config = { class: 'account' } as const

export function marketRoutes(tiers: Tiers, markets: MarketService, directory: MarketDirectory): void {
  tiers.public.get(
    '/markets',
    {
      config: { class: 'browse', cache: 'public' },
      schema: { summary: 'The markets in which one can buy', response: { 200: PublicMarketsResponse } }
    },
    () => directory.listPublic()
  )

  tiers.admin.get(
    '/admin/markets',
    {
      config,
      schema: {
        summary: 'All markets, by code',
        querystring: PageQuery,
        response: { 200: listOf(MarketResponse) }
      }
    },
    request => markets.list(request.query)
  )

  tiers.admin.post(
    '/admin/markets',
    {
      config,
      schema: { summary: 'Create a market', body: CreateMarketRequest, response: { 201: MarketResponse } }
    },
    request => markets.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/markets/:id',
    { config, schema: { summary: 'Show a market', params: MarketParams, response: { 200: MarketResponse } } },
    request => markets.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/markets/:id',
    {
      config,
      schema: {
        summary: 'Change a market',
        params: MarketParams,
        body: UpdateMarketRequest,
        response: { 200: MarketResponse }
      }
    },
    request => markets.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/markets/:id',
    { config, schema: { summary: 'Delete a market', params: MarketParams, response: noContent } },
    request => markets.remove(request.params.id, writeOf(request))
  )
}
