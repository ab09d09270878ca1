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
      schema: {
        summary: 'List active markets',
        description:
          'Returns the markets in which customers can buy, with countries, currency and locale. Send the `code` of one as `X-Market` or `?market=` in other requests. Needs no token; caches may keep the response.',
        response: { 200: PublicMarketsResponse }
      }
    },
    () => directory.listPublic()
  )

  tiers.admin.get(
    '/admin/markets',
    {
      config,
      schema: {
        summary: 'List markets',
        description:
          'Returns a page of all markets by code, inactive ones included. Customers see active ones only, with fewer fields: see `GET /api/markets`.',
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
      schema: {
        summary: 'Create a market',
        description:
          'Creates a market: countries with a currency, a price list, and tax and rounding rules. `code` cannot be changed. A country belongs to one market at most. 400 `PRICING_MARKET_LIST_INVALID`: no price list with this id has the currency of the market. 409 `PRICING_COUNTRY_TAKEN`: a country belongs to another market; remove it there first. 409 `PRICING_MARKET_CODE_TAKEN`: choose another code.',
        body: CreateMarketRequest,
        response: { 201: MarketResponse }
      }
    },
    request => markets.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/markets/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a market',
        description:
          'Returns a market by its id or its code. 404 `PRICING_MARKET_NOT_FOUND`: it does not exist.',
        params: MarketParams,
        response: { 200: MarketResponse }
      }
    },
    request => markets.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/markets/:id',
    {
      config,
      schema: {
        summary: 'Update a market',
        description:
          'Updates a market, by its id or its code; omitted fields stay. 400 `PRICING_MARKET_LIST_INVALID`: no price list with this id has the currency of the market. 409 `PRICING_COUNTRY_TAKEN`: a country belongs to another market; remove it there first. 409 `PRICING_MARKET_DEFAULT`: the default market stays active and keeps the currency of the shop. 412 `PRICING_MARKET_STALE`: it has changed since; read it again.',
        params: MarketParams,
        body: UpdateMarketRequest,
        response: { 200: MarketResponse }
      }
    },
    request => markets.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/markets/:id',
    {
      config,
      schema: {
        summary: 'Delete a market',
        description:
          'Deletes a market, by its id or its code. Its countries then belong to the default market. 409 `PRICING_MARKET_DEFAULT`: the default market cannot be deleted. 409 `PRICING_MARKET_IN_USE`: remove it from its promotions first. 412 `PRICING_MARKET_STALE`: it has changed since; read it again.',
        params: MarketParams,
        response: noContent
      }
    },
    request => markets.remove(request.params.id, writeOf(request))
  )
}
