import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import type { ExportStockCsv } from './csv/export.ts'
import type { InventoryItemQuantity } from './decisions/state.ts'
import type { InventoryItemService } from './items/service.ts'
import type { InventoryItemInput, InventoryItemSummary } from './items/upsert.ts'
import type { StockLedgerCheckReport } from './ledger-check/findings.ts'
import type {
  OrderStockRequest,
  StockRequestLine,
  TakeContestedStockRequest,
  UnpaidOrderStockClaim
} from './reservations/api.ts'

/** API of inventory for other modules. Inventory does not interpret ids of variants. */
export type InventoryApi = {
  /**
   * Returns how many units of each variant can be bought, in the order of the ids. Null: unknown, not
   * tracked or unlimited. At most one second old. Costs one lookup in memory, or one statement for all
   * missing ids.
   * @example
   * const [counted, uncounted] = await inventory.available([stockedVariantId, newId()])
   * assert.ok(counted !== null && counted !== undefined && counted > 0)
   * assert.equal(uncounted, null)
   */
  available(variantIds: readonly string[]): Promise<(number | null)[]>
  /**
   * Returns the same as `available` if all of it is in memory and current.
   * @example
   * await inventory.available([stockedVariantId])
   * const stocks = inventory.availableCached([stockedVariantId])
   * assert.ok(stocks === undefined || stocks.length === 1)
   */
  availableCached(variantIds: readonly string[]): (number | null)[] | undefined
  /**
   * Returns the same as `available`, read from the database in this transaction and not from memory.
   * @example
   * const [before] = await db.transaction(tx => inventory.availableIn(tx, [stockedVariantId]))
   * assert.ok((before ?? 0) > 0)
   */
  availableIn(db: Queryable, variantIds: readonly string[]): Promise<(number | null)[]>
  /**
   * Creates or updates the inventory items of these variants. Omitted fields keep their value.
   * @example
   * const cup = { variantId: newId(), sku: 'CUP', tracked: true, onHand: 4 }
   * await db.transaction(tx => inventory.upsertItems(tx, [cup]))
   * assert.equal(await inventory.areCountsApplied(), true)
   * assert.deepEqual(await inventory.availableIn(db, [cup.variantId]), [4])
   */
  upsertItems(tx: Transaction, variants: readonly InventoryItemInput[]): Promise<void>
  /**
   * Returns tracking, backorder policy and units on hand of these variants. Omits unknown variants.
   * @example
   * const items = await inventory.listItems([stockedVariantId])
   * assert.equal(items.get(stockedVariantId)?.tracked, true)
   */
  listItems(variantIds: readonly string[]): Promise<ReadonlyMap<string, InventoryItemSummary>>
  /**
   * Returns whether all counts that this process posted through `upsertItems` are applied. Waits up to two
   * seconds. False: some counts are not applied yet.
   * @example
   * assert.equal(await inventory.areCountsApplied(), true)
   */
  areCountsApplied(): Promise<boolean>
  /**
   * Reserves these lines for `owner` for so many seconds: all or none. Call it outside a transaction.
   * Repeating it with the same lines restarts the time; other lines replace the reservation.
   * @throws `INVENTORY_SHORT`: `items` lists the lines that are short. `INVENTORY_OWNER_TAKEN`: the owner
   * has claimed other lines. `INVENTORY_BUSY`: the outcome is unknown; repeating is safe.
   * `contest`, by item: units that `take` may later take from unpaid orders. A shortage within this limit
   * is returned as contested units, which are not reserved.
   * @example
   * const owner = newId()
   * const lines = [{ variantId: stockedVariantId, quantity: 1 }]
   * assert.deepEqual(await inventory.reserve(owner, lines, 60), [])
   * const many = [{ variantId: stockedVariantId, quantity: 1_000_000 }]
   * await assert.rejects(inventory.reserve(newId(), many, 60), { code: 'INVENTORY_SHORT' })
   */
  reserve(
    owner: string,
    lines: readonly StockRequestLine[],
    seconds: number,
    options?: { deadlineAt?: number; contest?: ReadonlyMap<string, number> }
  ): Promise<readonly InventoryItemQuantity[]>
  /**
   * Releases the held reservations of `owner`. Claimed reservations stay.
   * @example
   * const owner = newId()
   * await inventory.reserve(owner, [{ variantId: stockedVariantId, quantity: 1 }], 60)
   * await inventory.release(owner)
   */
  release(owner: string): Promise<void>
  /**
   * Claims the held reservations of `owner` within the caller's transaction. Only `post` releases them
   * afterwards.
   * @throws `INVENTORY_CLAIM_LOST` when the reservation has expired or has other lines: reserve again.
   * @example
   * const owner = newId()
   * const lines = [{ variantId: stockedVariantId, quantity: 1 }]
   * await inventory.reserve(owner, lines, 60)
   * await db.transaction(tx => inventory.claim(tx, owner, lines))
   */
  claim(
    tx: Transaction,
    owner: string,
    lines: readonly StockRequestLine[],
    contested?: readonly InventoryItemQuantity[]
  ): Promise<void>
  /**
   * Confirms the claimed reservations of `owner`: other owners can no longer take them. Returns the units
   * that the owner lacks, because it contested them or lost them to an owner that confirmed first. Get
   * them with `take` or give them up with `forgo`.
   * @example
   * const owner = newId()
   * const lines = [{ variantId: stockedVariantId, quantity: 1 }]
   * await inventory.reserve(owner, lines, 60)
   * await db.transaction(tx => inventory.claim(tx, owner, lines))
   * const lacking = await db.transaction(tx => inventory.confirm(tx, owner))
   * assert.deepEqual(lacking, [])
   */
  confirm(tx: Transaction, owner: string): Promise<readonly InventoryItemQuantity[]>
  /**
   * Returns the owners with unpaid claims of these variants, or of parts of these kits. Reads at most
   * 5,000 claims, in one statement.
   * @example
   * const owner = newId()
   * const lines = [{ variantId: stockedVariantId, quantity: 1 }]
   * await inventory.reserve(owner, lines, 60)
   * await db.transaction(tx => inventory.claim(tx, owner, lines))
   * const claims = await inventory.claimants(db, [stockedVariantId])
   * assert.ok(claims.some(claim => claim.owner === owner))
   */
  claimants(db: Queryable, variantIds: readonly string[]): Promise<UnpaidOrderStockClaim[]>
  /**
   * Posts a request that gives contested units to the owner after commit: all or none, once per request
   * id. Emits `inventory.taken` with the outcome, and `inventory.lost` for each order that lost units.
   * Such an order contests its lost units.
   * @example
   * const parts = [{ itemId: stockedVariantId, quantity: 1 }]
   * const request = { id: newId(), owner: newId(), parts, victims: [] }
   * await db.transaction(tx => inventory.take(tx, request))
   */
  take(tx: Transaction, request: TakeContestedStockRequest): Promise<void>
  /**
   * Returns how many of these take requests are finished, whatever their outcome.
   * @example
   * assert.equal(await inventory.countFinishedTakes(db, [newId()]), 0)
   */
  countFinishedTakes(db: Queryable, ids: readonly string[]): Promise<number>
  /**
   * Deletes contested units that the owner no longer wants. Each item may appear once. Returns the units
   * that were not contested.
   * @example
   * const parts = [{ itemId: stockedVariantId, quantity: 1 }]
   * const notContested = await db.transaction(tx => inventory.forgo(tx, newId(), parts))
   * assert.deepEqual(notContested, parts)
   */
  forgo(
    tx: Transaction,
    owner: string,
    parts: readonly InventoryItemQuantity[]
  ): Promise<InventoryItemQuantity[]>
  /**
   * Always rejects with `INVENTORY_SHORT`: `items` lists the lines that cannot be bought now. One
   * statement.
   * @example
   * const lines = [{ variantId: stockedVariantId, quantity: 1_000_000 }]
   * await assert.rejects(inventory.rejectShort(db, lines), { code: 'INVENTORY_SHORT' })
   */
  rejectShort(db: Queryable, lines: readonly StockRequestLine[]): Promise<never>
  /**
   * @throws `INVENTORY_SHORT` when the owner contests units that it does not have.
   * @example
   * await inventory.assertNotContested(db, newId())
   */
  assertNotContested(db: Queryable, owner: string): Promise<void>
  /**
   * Posts a request that the writer applies after commit, once per request id.
   * @example
   * const owner = newId()
   * const lines = [{ variantId: stockedVariantId, quantity: 1 }]
   * await inventory.reserve(owner, lines, 60)
   * await db.transaction(async tx => {
   *   await inventory.claim(tx, owner, lines)
   *   await inventory.post(tx, { id: newId(), kind: 'release', owner })
   * })
   */
  post(tx: Transaction, request: OrderStockRequest): Promise<void>
  /**
   * Returns the newest items whose available quantity is at or below their threshold, and their total
   * number.
   * @example
   * const { items } = await inventory.lowStock(5)
   * assert.ok(items.length <= 5)
   */
  lowStock(limit: number): ReturnType<InventoryItemService['listLow']>
  /**
   * Exports all stock as a CSV file with one row per variant and location.
   * @example
   * const chunks = await inventory.exportCsv().toArray()
   * assert.match(chunks.join(''), /on_hand/i)
   */
  exportCsv: ExportStockCsv
  /**
   * Checks the whole stock ledger and returns the discrepancies. With `repair`, also corrects those that
   * it can.
   * @example
   * const { findings } = await inventory.check({ repair: false })
   * assert.deepEqual(findings, [])
   */
  check(options: { repair: boolean }): Promise<StockLedgerCheckReport>
}
