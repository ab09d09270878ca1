import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, PageQuery } from '../../../kernel/wire.ts'
import { CreateLocationRequest, LocationResponse, UpdateLocationRequest } from './schema.ts'
import type { StockLocationService } from './service.ts'

const config = { class: 'account' } as const

export function stockLocationRoutes(tiers: Tiers, locations: StockLocationService): void {
  tiers.admin.get(
    '/inventory/locations',
    {
      config,
      schema: {
        summary: 'List stock locations',
        description:
          'Returns a page of locations by priority: stock is taken from the first one that has it. Inactive locations are included.',
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
        summary: 'Create a stock location',
        description:
          'Creates a location that holds stock, such as a warehouse. `code` cannot be changed. Set stock levels next. 409 `INVENTORY_LOCATION_CODE_TAKEN`: choose another code. 409 `INVENTORY_LOCATION_LIMIT`: `limit` is the maximum number of locations.',
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
      schema: {
        summary: 'Retrieve a stock location',
        description: 'Returns a location. 404 `INVENTORY_LOCATION_NOT_FOUND`: it does not exist.',
        params: IdParams,
        response: { 200: LocationResponse }
      }
    },
    request => locations.read(request.params.id)
  )

  tiers.admin.patch(
    '/inventory/locations/:id',
    {
      config,
      schema: {
        summary: 'Update a stock location',
        description:
          'Updates a location; omitted fields stay. Set `active` to false to stop selling its stock: locations cannot be deleted. 409 `INVENTORY_LOCATION_NEEDED`: it is the last active location; activate another one first. 412 `INVENTORY_LOCATION_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: UpdateLocationRequest,
        response: { 200: LocationResponse }
      }
    },
    request => locations.patch(request.params.id, request.body, writeOf(request))
  )
}
