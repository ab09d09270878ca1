import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreatePricelistRequest, PricelistResponse, UpdatePricelistRequest } from './schema.ts'
import type { PriceListService } from './service.ts'

const config = { class: 'account' } as const

export function priceListRoutes(tiers: Tiers, lists: PriceListService): void {
  tiers.admin.get(
    '/admin/price-lists',
    {
      config,
      schema: {
        summary: 'All price lists, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(PricelistResponse) }
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
        body: CreatePricelistRequest,
        response: { 201: PricelistResponse }
      }
    },
    request => lists.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/price-lists/:id',
    {
      config,
      schema: { summary: 'Show a price list', params: IdParams, response: { 200: PricelistResponse } }
    },
    request => lists.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/price-lists/:id',
    {
      config,
      schema: {
        summary: 'Change a price list',
        params: IdParams,
        body: UpdatePricelistRequest,
        response: { 200: PricelistResponse }
      }
    },
    request => lists.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/price-lists/:id',
    {
      config,
      schema: { summary: 'Delete a price list and its prices', params: IdParams, response: noContent }
    },
    request => lists.remove(request.params.id, writeOf(request))
  )
}
