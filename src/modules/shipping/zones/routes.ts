import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreateZoneRequest, UpdateZoneRequest, ZoneResponse } from './schema.ts'
import type { ZoneService } from './service.ts'

const config = { class: 'account' } as const

export function zoneRoutes(tiers: Tiers, zones: ZoneService): void {
  tiers.admin.get(
    '/admin/shipping/zones',
    {
      config,
      schema: {
        summary: 'Shipping zones, the newest first',
        querystring: PageQuery,
        response: { 200: listOf(ZoneResponse) }
      }
    },
    request => zones.list(request.query)
  )

  tiers.admin.post(
    '/admin/shipping/zones',
    {
      config,
      schema: {
        summary: 'Create a shipping zone',
        body: CreateZoneRequest,
        response: { 201: ZoneResponse }
      }
    },
    request => zones.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/zones/:id',
    {
      config,
      schema: { summary: 'Show a shipping zone', params: IdParams, response: { 200: ZoneResponse } }
    },
    request => zones.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/zones/:id',
    {
      config,
      schema: {
        summary: 'Change a shipping zone',
        params: IdParams,
        body: UpdateZoneRequest,
        response: { 200: ZoneResponse }
      }
    },
    request => zones.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/zones/:id',
    {
      config,
      schema: { summary: 'Delete a shipping zone and its rates', params: IdParams, response: noContent }
    },
    request => zones.remove(request.params.id, writeOf(request))
  )
}
