import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, PageQuery } from '../../../kernel/wire.ts'
import {
  InventoryItemResponse,
  ItemQuery,
  LowStockResponse,
  ReplaceComponentsRequest,
  UpdateInventoryItemRequest
} from './schema.ts'
import type { ItemService } from './service.ts'

const config = { class: 'account' } as const

export function itemRoutes(tiers: Tiers, items: ItemService): void {
  tiers.admin.get(
    '/inventory/items',
    {
      config,
      schema: {
        summary: 'How stock of each variant is counted, the newest first',
        querystring: ItemQuery,
        response: { 200: listOf(InventoryItemResponse) }
      }
    },
    request => items.list(request.query)
  )

  tiers.admin.get(
    '/inventory/items/:id',
    {
      config,
      schema: {
        summary: 'How stock of a variant is counted',
        params: IdParams,
        response: { 200: InventoryItemResponse }
      }
    },
    request => items.read(request.params.id)
  )

  tiers.admin.patch(
    '/inventory/items/:id',
    {
      config,
      schema: {
        summary: 'Change how stock of a variant is counted',
        params: IdParams,
        body: UpdateInventoryItemRequest,
        response: { 200: InventoryItemResponse }
      }
    },
    request => items.patch(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.put(
    '/inventory/items/:id/components',
    {
      config,
      schema: {
        summary: 'Make a variant a kit of others, or no kit',
        params: IdParams,
        body: ReplaceComponentsRequest,
        response: { 200: InventoryItemResponse }
      }
    },
    request => items.replaceComponents(request.params.id, request.body, writeOf(request))
  )

  tiers.admin.get(
    '/inventory/low-stock',
    {
      config,
      schema: {
        summary: 'What is running out',
        querystring: PageQuery,
        response: { 200: listOf(LowStockResponse) }
      }
    },
    request => items.listLow(request.query)
  )
}
