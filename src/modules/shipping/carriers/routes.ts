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
        summary: 'Carriers, by their codes',
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
      schema: { summary: 'Add a carrier', body: CreateCarrierRequest, response: { 201: CarrierResponse } }
    },
    request => carriers.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/admin/shipping/carriers/:id',
    { config, schema: { summary: 'Show a carrier', params: IdParams, response: { 200: CarrierResponse } } },
    request => carriers.read(request.params.id)
  )

  tiers.admin.patch(
    '/admin/shipping/carriers/:id',
    {
      config,
      schema: {
        summary: 'Change a carrier',
        params: IdParams,
        body: UpdateCarrierRequest,
        response: { 200: CarrierResponse }
      }
    },
    request => carriers.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.delete(
    '/admin/shipping/carriers/:id',
    { config, schema: { summary: 'Delete a carrier', params: IdParams, response: noContent } },
    request => carriers.remove(request.params.id, writeOf(request))
  )
}
