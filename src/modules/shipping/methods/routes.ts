import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreateMethodRequest, MethodResponse, UpdateMethodRequest } from './schema.ts'
import type { MethodService } from './service.ts'

const config = { class: 'account' } as const

export function methodRoutes(tiers: Tiers, methods: MethodService): void {
  tiers.admin.get(
    '/admin/shipping/methods',
    {
      config,
      schema: {
        summary: 'Shipping methods, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(MethodResponse) }
      }
    },
    request => methods.list(request.query)
  )

  tiers.admin.post(
    '/admin/shipping/methods',
    {
      config,
      schema: {
        summary: 'Create a shipping method',
        body: CreateMethodRequest,
        response: { 201: MethodResponse }
      }
    },
    request => methods.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/methods/:id',
    {
      config,
      schema: { summary: 'Show a shipping method', params: IdParams, response: { 200: MethodResponse } }
    },
    request => methods.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/methods/:id',
    {
      config,
      schema: {
        summary: 'Change a shipping method',
        params: IdParams,
        body: UpdateMethodRequest,
        response: { 200: MethodResponse }
      }
    },
    request => methods.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/methods/:id',
    {
      config,
      schema: { summary: 'Delete a shipping method and its rates', params: IdParams, response: noContent }
    },
    request => methods.remove(request.params.id, writeOf(request))
  )
}
