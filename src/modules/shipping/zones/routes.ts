import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreateShippingZoneRequest, ShippingZoneResponse, UpdateShippingZoneRequest } from './schema.ts'
import type { ShippingZoneService } from './service.ts'

const config = { class: 'account' } as const

export function shippingZoneRoutes(tiers: Tiers, zones: ShippingZoneService): void {
  tiers.admin.get(
    '/admin/shipping/zones',
    {
      config,
      schema: {
        summary: 'List shipping zones',
        description:
          'Returns a page of shipping zones, newest first. A zone is a set of areas that share shipping rates.',
        querystring: PageQuery,
        response: { 200: listOf(ShippingZoneResponse) }
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
        description:
          'Creates a zone from areas: countries, regions and postal codes. The most specific area decides which zone an address belongs to. Add rates to offer delivery there. 400 `SHIPPING_AREAS_INVALID`: `errors` name the invalid areas. 409 `SHIPPING_ZONE_AMBIGUOUS`: another zone covers an area equally specifically. 409 `SHIPPING_RULES_LIMIT`: the maximum number exists; delete one first.',
        body: CreateShippingZoneRequest,
        response: { 201: ShippingZoneResponse }
      }
    },
    request => zones.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/zones/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a shipping zone',
        description:
          'Returns a shipping zone with its areas. 404 `SHIPPING_ZONE_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: ShippingZoneResponse }
      }
    },
    request => zones.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/zones/:id',
    {
      config,
      schema: {
        summary: 'Update a shipping zone',
        description:
          'Updates the name or replaces the areas of a zone; omitted fields stay. Checkouts use the new areas within a second. 400 `SHIPPING_AREAS_INVALID`: `errors` name the invalid areas. 409 `SHIPPING_ZONE_AMBIGUOUS`: another zone covers an area equally specifically. 412 `SHIPPING_ZONE_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateShippingZoneRequest,
        response: { 200: ShippingZoneResponse }
      }
    },
    request => zones.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/zones/:id',
    {
      config,
      schema: {
        summary: 'Delete a shipping zone',
        description:
          'Deletes a zone with its rates. Existing orders and shipments stay as they are. 412 `SHIPPING_ZONE_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => zones.remove(request.params.id, writeOf(request))
  )
}
