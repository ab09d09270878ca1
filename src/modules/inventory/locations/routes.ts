import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, PageQuery } from '../../../kernel/wire.ts'
import { CreateLocationRequest, LocationResponse, UpdateLocationRequest } from './schema.ts'
import type { LocationService } from './service.ts'

const config = { class: 'account' } as const

export function locationRoutes(tiers: Tiers, locations: LocationService): void {
  tiers.admin.get(
    '/inventory/locations',
    {
      config,
      schema: {
        summary: 'Where stock lies, in the order in which it is taken from there',
        querystring: PageQuery,
        response: { 200: listOf(LocationResponse) }
      }
    },
    request => locations.list(request.query)
  )

  tiers.admin.post(
    '/inventory/locations',
    {
      config,
      schema: {
        summary: 'Create a location',
        body: CreateLocationRequest,
        response: { 201: LocationResponse }
      }
    },
    request => locations.create(request.body, writeOf(request))
  )

  tiers.admin.get(
    '/inventory/locations/:id',
    {
      config,
      schema: { summary: 'Show a location', params: IdParams, response: { 200: LocationResponse } }
    },
    request => locations.read(request.params.id)
  )

  tiers.admin.patch(
    '/inventory/locations/:id',
    {
      config,
      schema: {
        summary: 'Change a location, or put it out of use',
        params: IdParams,
        body: UpdateLocationRequest,
        response: { 200: LocationResponse }
      }
    },
    request => locations.patch(request.params.id, request.body, writeOf(request))
  )
}
