import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  CreatePriceListRequest,
  PriceListQuery,
  PriceListResponse,
  UpdatePriceListRequest
} from './schema.ts'
import type { PriceListService } from './service.ts'

const config = { class: 'account' } as const

export function priceListRoutes(tiers: Tiers, lists: PriceListService): void {
  tiers.admin.get(
    '/admin/price-lists',
    {
      config,
      schema: {
        summary: 'List price lists',
        description:
          'Returns a page of price lists, newest first, without their prices. A price list replaces catalog prices in the markets that use it.',
        querystring: PriceListQuery,
        response: { 200: listOf(PriceListResponse) }
      }
    },
    request => lists.list(request.query)
  )

  tiers.admin.post(
    '/admin/price-lists',
    {
      config,
      schema: {
        summary: 'Create a price list',
        description:
          'Creates an empty price list in a currency. With a parent, missing prices are those of the parent, adjusted by `adjustment_ppm`. Set prices next, then name the list in a market. 400 `PRICING_PARENT_LIST_INVALID`: the parent does not exist in this currency. 400 `PRICING_ADJUSTMENT_INVALID`: an adjustment needs a parent. 409 `PRICING_PRICE_LIST_TOO_DEEP`: at most five levels of lists are allowed.',
        body: CreatePriceListRequest,
        response: { 201: PriceListResponse }
      }
    },
    request => lists.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/price-lists/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a price list',
        description:
          'Returns a price list without its prices. 404 `PRICING_PRICE_LIST_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: PriceListResponse }
      }
    },
    request => lists.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/price-lists/:id',
    {
      config,
      schema: {
        summary: 'Update a price list',
        description:
          'Updates the name or the adjustment of a price list; omitted fields stay. Currency and parent cannot be changed. 400 `PRICING_ADJUSTMENT_INVALID`: an adjustment needs a parent. 412 `PRICING_PRICE_LIST_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdatePriceListRequest,
        response: { 200: PriceListResponse }
      }
    },
    request => lists.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/price-lists/:id',
    {
      config,
      schema: {
        summary: 'Delete a price list',
        description:
          'Deletes a price list with its prices. 409 `PRICING_PRICE_LIST_IN_USE`: a market or another price list uses it; change that first. 412 `PRICING_PRICE_LIST_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => lists.remove(request.params.id, writeOf(request))
  )
}
