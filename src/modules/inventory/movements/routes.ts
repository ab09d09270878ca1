import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { listOf } from '../../../kernel/wire.ts'
import { MovementQuery, MovementResponse } from './schema.ts'
import type { MovementService } from './service.ts'

export function movementRoutes(tiers: Tiers, movements: MovementService): void {
  tiers.admin.get(
    '/inventory/movements',
    {
      config: { class: 'account' },
      schema: {
        summary: 'List stock movements',
        description:
          'Returns a page of the stock movements of a variant, by location, newest first. Each movement states what changed, why, and the result.',
        querystring: MovementQuery,
        response: { 200: listOf(MovementResponse) }
      }
    },
    request => movements.list(request.query)
  )
}
