import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  DeletePricesQuery,
  ListedPriceResponse,
  PriceParams,
  PricesQuery,
  SetPricesRequest
} from './schema.ts'
import type { PriceService } from './service.ts'

const config = { class: 'account' } as const

export function priceRoutes(tiers: Tiers, prices: PriceService): void {
  tiers.admin.get(
    '/admin/price-lists/:id/prices',
    {
      config,
      schema: {
        summary: 'The prices of a list, by variant and quantity',
        params: IdParams,
        querystring: PricesQuery,
        response: { 200: listOf(ListedPriceResponse) }
      }
    },
    request => prices.list(request.params.id, request.query)
  )

  tiers.admin.put(
    '/admin/price-lists/:id/prices',
    {
      config,
      schema: {
        summary: 'Set prices of a list, all of these or none; its others stay',
        params: IdParams,
        body: SetPricesRequest,
        response: noContent
      }
    },
    request => prices.set(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/price-lists/:id/prices/:variantId',
    {
      config,
      schema: {
        summary: 'Delete the prices of a variant from a list, or one of them',
        params: PriceParams,
        querystring: DeletePricesQuery,
        response: noContent
      }
    },
    request =>
      prices.remove(
        request.params.id,
        request.params.variantId,
        request.query.from_quantity,
        writeOf(request)
      )
  )
}
