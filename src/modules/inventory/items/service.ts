import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { AvailabilityChangeBroadcaster } from '../availability/changes.ts'
import { readAvailableQuantities } from '../availability/service.ts'
import { inventoryItemNotFoundError, inventoryItemStaleError, kitNestedError } from '../errors.ts'
import type { StockPolicyPublisher } from './policy-publisher.ts'
import * as repository from './repository.ts'
import type {
  InventoryItemQuery,
  InventoryItemResponse,
  LowStockInventoryItemResponse,
  ReplaceKitComponentsRequest,
  UpdateInventoryItemRequest
} from './schema.ts'

type Deps = { db: Database; changes: AvailabilityChangeBroadcaster; crossings: StockPolicyPublisher }

/** Manages stock policies of variants and the parts of kits. */
export function createInventoryItemService({ db, changes, crossings }: Deps) {
  async function list({ sku, tracked, ...query }: InventoryItemQuery): Promise<Page<InventoryItemResponse>> {
    const filters = { sku: sku ?? null, tracked: tracked ?? null }
    const page = await readPage(query, {
      ...newestFirst,
      name: 'items',
      filters,
      rows: place => db.rows(repository.listInventoryItems, { ...filters, ...place }),
      total: () => db.first(repository.countInventoryItems, filters)
    })
    const available = await readAvailableQuantities(
      db,
      page.items.map(({ id }) => id)
    )
    return {
      ...page,
      items: page.items.map((row, index) => ({ ...row, available: available[index] ?? null }))
    }
  }

  /** @throws `INVENTORY_ITEM_NOT_FOUND` */
  async function read(id: string): Promise<InventoryItemResponse> {
    const row = found(await db.first(repository.findInventoryItem, { id }), inventoryItemNotFoundError)
    const [available = null] = await readAvailableQuantities(db, [id])
    return { ...row, available }
  }

  const listLow = (query: PageQuery): Promise<Page<LowStockInventoryItemResponse>> =>
    readPage(query, {
      ...newestFirst,
      name: 'low stock',
      rows: place => db.rows(repository.listLowStockItems, place),
      total: () => db.first(repository.countLowStockItems)
    })

  /**
   * Updates an item. Creates it when it is unknown, because variant ids come from the catalog. @throws
   * `INVENTORY_ITEM_STALE`
   */
  async function patch(
    id: string,
    body: UpdateInventoryItemRequest,
    write: IdempotentWrite
  ): Promise<InventoryItemResponse> {
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      if (isEmptyPatch(body)) return
      const item = merge(stored, body)
      await tx.run(repository.updateInventoryItem, item)
      await tx.run(repository.updateItemLowStockMarks, { ids: [id] })
      await crossings.announce(tx, [item])
    })
    return read(id)
  }

  /** @throws `INVENTORY_ITEM_STALE`, `INVENTORY_ITEM_NOT_FOUND`, `INVENTORY_KIT_NESTED`, `INVENTORY_COMPONENT_TWICE` */
  async function replaceComponents(
    id: string,
    { components }: ReplaceKitComponentsRequest,
    write: IdempotentWrite
  ): Promise<InventoryItemResponse> {
    const itemIds = components.map(part => part.item_id)
    await write.once(db, async tx => {
      await tx.run(repository.lockKitChanges)
      const item = await lock(tx, id, write)
      if ((await tx.first(repository.wouldKitBeNested, { id, itemIds }))?.is_nested) throw kitNestedError()
      await tx.run(repository.deleteKitComponents, { id })
      const quantities = components.map(part => part.quantity)
      await tx.run(repository.insertKitComponents, { id, itemIds, quantities })
      await tx.run(repository.incrementInventoryItemVersion, { id })
      await crossings.announce(tx, [item])
      // Every process caches the parts of kits, so a change is published to all.
      changes.announce(tx, 'all')
    })
    return read(id)
  }

  return { list, read, listLow, patch, replaceComponents }
}
export type InventoryItemService = ReturnType<typeof createInventoryItemService>

/** Locks the item until `tx` ends. Creates it when it does not exist. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite) {
  const known = await tx.first(repository.lockInventoryItem, { id })
  write.expect(known?.version ?? 0, inventoryItemStaleError)
  if (known !== undefined) return known
  await tx.run(repository.insertInventoryItem, { id })
  return found(await tx.first(repository.lockInventoryItem, { id }), inventoryItemNotFoundError)
}

/** Clears the backorder limit when the backorder rule changes to another one. */
function merge(
  stored: repository.InventoryItemRow,
  body: UpdateInventoryItemRequest
): repository.InventoryItemRow {
  const hasOtherRule = body.backorder !== undefined && body.backorder !== 'limit'
  return { ...stored, ...(hasOtherRule && { backorder_limit: null }), ...body }
}
