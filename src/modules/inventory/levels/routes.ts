import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { changeListResponse } from '../../../kernel/change-lists.ts'
import { Id, input } from '../../../kernel/wire.ts'
import {
  CountedStockLevelResponse,
  StockAdjustmentRequest,
  StockCountRequest,
  StockLevelQuery,
  StockLevelResponse
} from './schema.ts'
import type { StockLevelService } from './service.ts'

const config = { class: 'account' } as const

export function stockLevelRoutes(tiers: Tiers, levels: StockLevelService): void {
  tiers.admin.get(
    '/inventory/levels',
    {
      config,
      schema: {
        summary: 'List stock levels',
        description:
          'Returns a page of stock levels, one per variant and location. Filter by `variant_id` or by the code of a `location`. Poll for changes with `updated_since`. 400 `UPDATED_SINCE_FILTERED`: send `updated_since` without filters.',
        querystring: StockLevelQuery,
        response: { 200: changeListResponse(StockLevelResponse) }
      }
    },
    request => levels.list(request.query)
  )

  tiers.admin.put(
    '/inventory/levels/:variantId',
    {
      config,
      schema: {
        summary: 'Set a stock level',
        description:
          'Sets the counted stock of a variant at a location, and starts to track it. `location` defaults to the first active one. `short` is true if more is reserved than on hand; resolve these orders. With `source_version`, an older count is ignored and `applied` is false. 404 `INVENTORY_LOCATION_NOT_FOUND`: the location does not exist. 503 `INVENTORY_BUSY`: the change is stored and still pending; repeat the request with the same key.',
        params: input({ variantId: Id }),
        body: StockCountRequest,
        response: { 200: CountedStockLevelResponse }
      }
    },
    request =>
      levels.count(request.params.variantId, request.body, identityOf(request).userId, writeOf(request))
  )

  tiers.admin.post(
    '/inventory/adjustments',
    {
      config,
      schema: {
        summary: 'Create a stock adjustment',
        description:
          'Adds or removes units of a variant at a location, for example for a delivery or breakage. Returns the new stock level. 404 `INVENTORY_LOCATION_NOT_FOUND`: the location does not exist. 503 `INVENTORY_BUSY`: the change is stored and still pending; repeat the request with the same key.',
        body: StockAdjustmentRequest,
        response: { 201: StockLevelResponse }
      }
    },
    request => levels.adjust(request.body, identityOf(request).userId, writeOf(request))
  )
}
