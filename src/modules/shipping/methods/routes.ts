import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CreateShippingMethodRequest, ShippingMethodResponse, UpdateShippingMethodRequest } from './schema.ts'
import type { ShippingMethodService } from './service.ts'

const config = { class: 'account' } as const

export function shippingMethodRoutes(tiers: Tiers, methods: ShippingMethodService): void {
  tiers.admin.get(
    '/admin/shipping/methods',
    {
      config,
      schema: {
        summary: 'List shipping methods',
        description:
          'Returns a page of shipping methods by `position`. `missing_rates` lists currencies of the shop in which a method is not offered.',
        querystring: PageQuery,
        response: { 200: listOf(ShippingMethodResponse) }
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
        description:
          'Creates a way in which orders reach buyers: shipping, pickup or digital delivery. Add a rate to offer it: one per zone for `shipping`, one without a zone otherwise. `kind` cannot be changed. 400 `SHIPPING_DAYS_INVALID`: `max` is less than `min`. 409 `SHIPPING_RULES_LIMIT`: the maximum number exists; delete one first.',
        body: CreateShippingMethodRequest,
        response: { 201: ShippingMethodResponse }
      }
    },
    request => methods.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/methods/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a shipping method',
        description:
          'Returns a shipping method. `missing_rates` lists currencies of the shop in which it is not offered. 404 `SHIPPING_METHOD_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: ShippingMethodResponse }
      }
    },
    request => methods.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/methods/:id',
    {
      config,
      schema: {
        summary: 'Update a shipping method',
        description:
          'Updates a shipping method; omitted fields stay. Set `active` to false to stop offering it. 400 `SHIPPING_DAYS_INVALID`: `max` is less than `min`. 412 `SHIPPING_METHOD_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateShippingMethodRequest,
        response: { 200: ShippingMethodResponse }
      }
    },
    request => methods.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/methods/:id',
    {
      config,
      schema: {
        summary: 'Delete a shipping method',
        description:
          'Deletes a shipping method with its rates. Existing orders and shipments stay as they are. To stop offering it for a while, set `active` to false. 412 `SHIPPING_METHOD_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => methods.remove(request.params.id, writeOf(request))
  )
}
