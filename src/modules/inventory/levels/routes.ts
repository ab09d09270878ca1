import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { listOf } from '../../../kernel/wire.ts'
import { LevelQuery, LevelResponse } from './schema.ts'
import type { LevelService } from './service.ts'

const config = { class: 'account' } as const

export function levelRoutes(tiers: Tiers, levels: LevelService): void {
  tiers.admin.get(
    '/inventory/levels',
    {
      config,
      schema: {
        summary: 'What there is of each variant at each location',
        querystring: LevelQuery,
        response: { 200: listOf(LevelResponse) }
      }
    },
    request => levels.list(request.query)
  )
}
