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
        summary: 'What happened to the stock of a variant, by location, the newest first',
        querystring: MovementQuery,
        response: { 200: listOf(MovementResponse) }
      }
    },
    request => movements.list(request.query)
  )
}
