import { found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { changesNothing } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Changes } from '../availability/changes.ts'
import { availableIn } from '../availability/service.ts'
import { itemNotFound, itemStale, kitNested } from '../errors.ts'
import type { Crossings } from './crossings.ts'
import * as repository from './repository.ts'
import type {
  InventoryItemResponse,
  ItemQuery,
  LowStockResponse,
  ReplaceComponentsRequest,
  UpdateInventoryItemRequest
} from './schema.ts'

type Deps = { db: Database; changes: Changes; crossings: Crossings }

/** How stock of each variant is counted, and of which parts kits are made. */
export function createItemService({ db, changes, crossings }: Deps) {
  async function list({ sku, tracked, ...query }: ItemQuery): Promise<Page<InventoryItemResponse>> {
    const filters = { sku: sku ?? null, tracked: tracked ?? null }
    const page = await readPage(query, {
      ...newestFirst,
      name: 'items',
      filters,
      rows: place => db.rows(repository.listItems, { ...filters, ...place }),
      total: () => db.first(repository.countItems, filters)
    })
    const available = await availableIn(
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
    const row = found(await db.first(repository.findItem, { id }), itemNotFound)
    const [available = null] = await availableIn(db, [id])
    return { ...row, available }
  }

  const listLow = (query: PageQuery): Promise<Page<LowStockResponse>> =>
    readPage(query, {
      ...newestFirst,
      name: 'low stock',
      rows: place => db.rows(repository.listLowStock, place),
      total: () => db.first(repository.countLowStock)
    })

  /** The ids of variants are the catalog's: one that nobody told us of is known from here on. @throws `INVENTORY_ITEM_STALE` */
  async function patch(
    id: string,
    body: UpdateInventoryItemRequest,
    write: Write
  ): Promise<InventoryItemResponse> {
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      if (changesNothing(body)) return
      const item = merge(stored, body)
      await tx.run(repository.updateItem, item)
      await tx.run(repository.markLowStock, { ids: [id] })
      await crossings.announce(tx, [item])
    })
    return read(id)
  }

  /** @throws `INVENTORY_ITEM_STALE`, `INVENTORY_ITEM_NOT_FOUND`, `INVENTORY_KIT_NESTED`, `INVENTORY_COMPONENT_TWICE` */
  async function replaceComponents(
    id: string,
    { components }: ReplaceComponentsRequest,
    write: Write
  ): Promise<InventoryItemResponse> {
    const itemIds = components.map(part => part.item_id)
    await write.once(db, async tx => {
      await tx.run(repository.lockComponents)
      const item = await lock(tx, id, write)
      if ((await tx.first(repository.isNested, { id, itemIds }))?.is_nested) throw kitNested()
      await tx.run(repository.deleteComponents, { id })
      const quantities = components.map(part => part.quantity)
      await tx.run(repository.insertComponents, { id, itemIds, quantities })
      await tx.run(repository.raiseItemVersion, { id })
      await crossings.announce(tx, [item])
      // Processes may keep in mind what kits are made of.
      changes.announce(tx, 'all')
    })
    return read(id)
  }

  return { list, read, listLow, patch, replaceComponents }
}
export type ItemService = ReturnType<typeof createItemService>

/** Holds it until `tx` ends; it is made when it was not known. */
async function lock(tx: Transaction, id: string, write: Write) {
  const known = await tx.first(repository.lockItem, { id })
  write.expect(known?.version ?? 0, itemStale)
  if (known !== undefined) return known
  await tx.run(repository.insertItem, { id })
  return found(await tx.first(repository.lockItem, { id }), itemNotFound)
}

/** How many may be owed is forgotten with the rule that it belongs to. */
function merge(stored: repository.ItemRow, body: UpdateInventoryItemRequest): repository.ItemRow {
  const hasOtherRule = body.backorder !== undefined && body.backorder !== 'limit'
  return { ...stored, ...(hasOtherRule && { backorder_limit: null }), ...body }
}
