import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent } from '../../../kernel/wire.ts'
import {
  CreateShippingRateRequest,
  ShippingRateQuery,
  ShippingRateResponse,
  UpdateShippingRateRequest
} from './schema.ts'
import type { ShippingRateService } from './service.ts'

const config = { class: 'account' } as const

export function shippingRateRoutes(tiers: Tiers, rates: ShippingRateService): void {
  tiers.admin.get(
    '/admin/shipping/rates',
    {
      config,
      schema: {
        summary: 'List shipping rates',
        description:
          'Returns a page of shipping rates, newest first. A rate is the price of a shipping method in a zone and a currency.',
        querystring: ShippingRateQuery,
        response: { 200: listOf(ShippingRateResponse) }
      }
    },
    request => rates.list(request.query)
  )

  tiers.admin.post(
    '/admin/shipping/rates',
    {
      config,
      schema: {
        summary: 'Create a shipping rate',
        description:
          'Sets the price of a shipping method in a zone and a currency, as one `amount` or as a `table`. Pickup and digital methods have no zone. 400 `SHIPPING_TABLE_INVALID`: the steps must rise. 400 `SHIPPING_RATE_PLACE`: `zone_id` is missing, or not allowed for this kind of method. 409 `SHIPPING_RATE_TAKEN`: a rate for this method, zone and currency exists; update it. 409 `SHIPPING_RULES_LIMIT`: the maximum number exists; delete one first.',
        body: CreateShippingRateRequest,
        response: { 201: ShippingRateResponse }
      }
    },
    request => rates.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/rates/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a shipping rate',
        description: 'Returns a shipping rate. 404 `SHIPPING_RATE_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: ShippingRateResponse }
      }
    },
    request => rates.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/rates/:id',
    {
      config,
      schema: {
        summary: 'Update a shipping rate',
        description:
          'Updates the price of a shipping rate; omitted fields stay. Sending `table` replaces `amount`, and the reverse. 400 `SHIPPING_TABLE_INVALID`: the steps must rise, and only the last may be unlimited. 412 `SHIPPING_RATE_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateShippingRateRequest,
        response: { 200: ShippingRateResponse }
      }
    },
    request => rates.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/rates/:id',
    {
      config,
      schema: {
        summary: 'Delete a shipping rate',
        description:
          'Deletes a shipping rate. The method is no longer offered in its zone and currency. 412 `SHIPPING_RATE_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => rates.remove(request.params.id, writeOf(request))
  )
}
