import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { CarrierResponse, CreateCarrierRequest, UpdateCarrierRequest } from './schema.ts'
import type { CarrierService } from './service.ts'

const config = { class: 'account' } as const

export function carrierRoutes(tiers: Tiers, carriers: CarrierService): void {
  tiers.admin.get(
    '/admin/shipping/carriers',
    {
      config,
      schema: {
        summary: 'List carriers',
        description:
          'Returns a page of carriers by code, built-in ones included. A carrier defines tracking links and the format of tracking numbers.',
        querystring: PageQuery,
        response: { 200: listOf(CarrierResponse) }
      }
    },
    request => carriers.list(request.query)
  )

  tiers.admin.post(
    '/admin/shipping/carriers',
    {
      config,
      schema: {
        summary: 'Create a carrier',
        description:
          'Creates a carrier with its tracking link and the formats of its tracking numbers. The `code` cannot be changed. 409 `SHIPPING_CARRIER_TAKEN`: another carrier has this code or name. 409 `SHIPPING_RULES_LIMIT`: the maximum number exists; delete one first.',
        body: CreateCarrierRequest,
        response: { 201: CarrierResponse }
      }
    },
    request => carriers.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/carriers/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a carrier',
        description:
          'Returns a carrier with its tracking link and number formats. 404 `SHIPPING_CARRIER_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: CarrierResponse }
      }
    },
    request => carriers.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/carriers/:id',
    {
      config,
      schema: {
        summary: 'Update a carrier',
        description:
          'Updates a carrier; omitted fields stay. Existing shipments get the new tracking link. 409 `SHIPPING_CARRIER_TAKEN`: another carrier has this name. 412 `SHIPPING_CARRIER_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateCarrierRequest,
        response: { 200: CarrierResponse }
      }
    },
    request => carriers.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/carriers/:id',
    {
      config,
      schema: {
        summary: 'Delete a carrier',
        description:
          'Deletes a carrier. Shipments keep its name and lose the tracking link. 412 `SHIPPING_CARRIER_STALE`: it has changed since; read it again.',
        params: IdParams,
        response: noContent
      }
    },
    request => carriers.remove(request.params.id, writeOf(request))
  )
}
