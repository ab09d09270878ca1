import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, PageQuery } from '../../../kernel/wire.ts'
import {
  InventoryItemQuery,
  InventoryItemResponse,
  LowStockInventoryItemResponse,
  ReplaceKitComponentsRequest,
  UpdateInventoryItemRequest
} from './schema.ts'
import type { InventoryItemService } from './service.ts'

const config = { class: 'account' } as const

export function inventoryItemRoutes(tiers: Tiers, items: InventoryItemService): void {
  tiers.admin.get(
    '/inventory/items',
    {
      config,
      schema: {
        summary: 'List inventory items',
        description:
          'Returns a page of inventory items, newest first. An item is the stock policy of a variant: tracking, backorders, low-stock threshold and kit components.',
        querystring: InventoryItemQuery,
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
        summary: 'Retrieve an inventory item',
        description:
          'Returns the inventory item of a variant, by the id of the variant. 404 `INVENTORY_ITEM_NOT_FOUND`: the inventory has no such variant; update the item to create it.',
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
        summary: 'Update an inventory item',
        description:
          'Updates the stock policy of a variant, by the id of the variant; omitted fields stay. An unknown item is created. 400 `INVENTORY_BACKORDER_INVALID`: `backorder_limit` needs `backorder` "limit". 412 `INVENTORY_ITEM_STALE`: it has changed since; read it again.',
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
        summary: "Replace a kit's components",
        description:
          'Makes a variant a kit of other variants, whose stock decides its own. An empty list makes it an ordinary variant. 404 `INVENTORY_ITEM_NOT_FOUND`: a component is unknown; create its item first. 409 `INVENTORY_KIT_NESTED`: a component cannot be a kit. 412 `INVENTORY_ITEM_STALE`: it has changed since; read it again.',
        params: IdParams,
        body: ReplaceKitComponentsRequest,
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
        summary: 'List low-stock items',
        description:
          'Returns a page of variants whose available quantity is at or below their `low_threshold`. Set the threshold in the inventory item.',
        querystring: PageQuery,
        response: { 200: listOf(LowStockInventoryItemResponse) }
      }
    },
    request => items.listLow(request.query)
  )
}
