import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { listOf } from '../../../kernel/wire.ts'
import { StockMovementQuery, StockMovementResponse } from './schema.ts'
import type { StockMovementReader } from './service.ts'

export function stockMovementRoutes(tiers: Tiers, movements: StockMovementReader): void {
  tiers.admin.get(
    '/inventory/movements',
    {
      config: { class: 'account' },
      schema: {
        summary: 'List stock movements',
        description:
          'Returns a page of stock movements, newest first. With `variant_id`, those of a variant, by location. Filter by the code of a `location`. Each movement states what changed, why, and the result.',
        querystring: StockMovementQuery,
        response: { 200: listOf(StockMovementResponse) }
      }
    },
    request => movements.list(request.query)
  )
}
