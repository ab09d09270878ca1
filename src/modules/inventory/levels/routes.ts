import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { Id, input, listOf } from '../../../kernel/wire.ts'
import { AdjustRequest, CountedLevelResponse, CountRequest, LevelQuery, LevelResponse } from './schema.ts'
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

  tiers.admin.put(
    '/inventory/levels/:variantId',
    {
      config,
      schema: {
        summary: 'Say how many of a variant there are at a location',
        params: input({ variantId: Id }),
        body: CountRequest,
        response: { 200: CountedLevelResponse }
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
        summary: 'Say how many of a variant have come or gone',
        body: AdjustRequest,
        response: { 201: LevelResponse }
      }
    },
    request => levels.adjust(request.body, identityOf(request).userId, writeOf(request))
  )
}
