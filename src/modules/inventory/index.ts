import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { createAvailability } from './availability/cache.ts'
import { createAvailabilityChanges } from './availability/changes.ts'
import { availabilityRoutes } from './availability/routes.ts'
import { availableIn, createAvailabilityService } from './availability/service.ts'
import { createStockExporter, type ExportStockCsv } from './csv/export.ts'
import { createStockImporter } from './csv/import.ts'
import { csvRoutes } from './csv/routes.ts'
import type { StockPart } from './decisions/state.ts'
import { stockCrossed, stockLost, stockShort, stockTaken } from './events.ts'
import { createCrossings } from './items/crossings.ts'
import { correctLowStockMarks, markCrossedItems } from './items/low-stock.ts'
import { itemRoutes } from './items/routes.ts'
import { createSaveItems } from './items/save.ts'
import { createItemService, type ItemService } from './items/service.ts'
import {
  createItemUpsert,
  type InventoryItemInput,
  type InventoryItemSummary,
  listItemSummaries
} from './items/upsert.ts'
import type { CheckReport } from './ledger-check/findings.ts'
import { checkLedger, runDailyCheck } from './ledger-check/job.ts'
import { createFindingMetrics } from './ledger-check/metrics.ts'
import { checkRoutes } from './ledger-check/routes.ts'
import { createCheckService } from './ledger-check/service.ts'
import { levelRoutes } from './levels/routes.ts'
import { createLevelService, type StockRequests } from './levels/service.ts'
import { announceLocation, publishItemsAt } from './locations/announce.ts'
import { locationRoutes } from './locations/routes.ts'
import { createLocationService } from './locations/service.ts'
import { movementRoutes } from './movements/routes.ts'
import { createMovementService } from './movements/service.ts'
import {
  type Claimant,
  createReservationApi,
  type OrderRequest,
  type StockLine,
  type TakeRequest
} from './reservations/api.ts'
import { startStockTimers } from './reservations/expiry.ts'
import { reservationRoutes } from './reservations/routes.ts'
import { createReservationService } from './reservations/service.ts'
import { inventorySettings } from './settings.ts'
import { createKits } from './writer/kits.ts'
import { createStockPublisher } from './writer/publisher.ts'
import { createWriter } from './writer/writer.ts'

export { stockCrossed, stockLost, stockShort, stockTaken } from './events.ts'

export type { CheckReport, Claimant, InventoryItemSummary, StockLine, StockPart, TakeRequest }

/** API of inventory for other modules. Ids of variants are opaque to it. */
export type InventoryApi = {
  /**
   * Returns how many units of each variant can be bought, in the order of the ids. Null: unknown, not
   * tracked or unlimited. At most one second old. Costs one lookup in memory, or one statement for all
   * missing ids.
   */
  available(variantIds: readonly string[]): Promise<(number | null)[]>
  /** Same as `available`, read from the database in this transaction. */
  availableIn(db: Queryable, variantIds: readonly string[]): Promise<(number | null)[]>
  /** Creates or updates the inventory items of these variants. Omitted fields keep their value. */
  upsertItems(tx: Transaction, variants: readonly InventoryItemInput[]): Promise<void>
  /** Returns tracking, backorder policy and units on hand of these variants. Omits unknown variants. */
  listItems(variantIds: readonly string[]): Promise<ReadonlyMap<string, InventoryItemSummary>>
  /**
   * Returns whether all counts that this process posted through `upsertItems` are applied. Waits up to two
   * seconds; false means not yet.
   */
  areCountsApplied(): Promise<boolean>
  /**
   * Reserves these lines for `owner` for so many seconds: all or none. Call it outside a transaction.
   * Repeating it with the same lines restarts the time; other lines replace the reservation.
   * @throws `INVENTORY_SHORT`: `items` lists the lines that are short. `INVENTORY_OWNER_TAKEN`: the owner
   * has claimed other lines. `INVENTORY_BUSY`: the outcome is unknown; repeating is safe.
   * `contest`, by item: units that `take` may later take from unpaid orders. A shortage within this limit
   * is returned as contested units, which are not reserved.
   */
  reserve(
    owner: string,
    lines: readonly StockLine[],
    seconds: number,
    options?: { deadlineAt?: number; contest?: ReadonlyMap<string, number> }
  ): Promise<readonly StockPart[]>
  /** Releases the held reservations of `owner`. Claimed reservations stay. */
  release(owner: string): Promise<void>
  /**
   * Claims the held reservations of `owner` within the caller's transaction. Only `post` releases them
   * afterwards.
   * @throws `INVENTORY_CLAIM_LOST` when the reservation has expired or has other lines: reserve again.
   */
  claim(
    tx: Transaction,
    owner: string,
    lines: readonly StockLine[],
    contested?: readonly StockPart[]
  ): Promise<void>
  /**
   * Confirms the claimed reservations of `owner`: other owners can no longer take them. Returns the units
   * that the owner lacks, because it contested them or lost them to an owner that confirmed first. Get
   * them with `take` or give them up with `forgo`.
   */
  confirm(tx: Transaction, owner: string): Promise<readonly StockPart[]>
  /**
   * Returns the owners with unpaid claims of these variants, or of parts of these kits. Reads at most
   * 5,000 claims, in one statement.
   */
  claimants(db: Queryable, variantIds: readonly string[]): Promise<Claimant[]>
  /**
   * Posts a request that gives contested units to the owner after commit: all or none, once per request
   * id. Emits `inventory.taken` with the outcome, and `inventory.lost` for each order that lost units.
   * Such an order contests its lost units.
   */
  take(tx: Transaction, request: TakeRequest): Promise<void>
  /** Returns how many of these take requests are finished, whatever their outcome. */
  countFinishedTakes(db: Queryable, ids: readonly string[]): Promise<number>
  /**
   * Deletes contested units that the owner no longer wants. Each item may appear once. Returns the units
   * that were not contested.
   */
  forgo(tx: Transaction, owner: string, parts: readonly StockPart[]): Promise<StockPart[]>
  /**
   * Always rejects with `INVENTORY_SHORT`: `items` lists the lines that cannot be bought now. One
   * statement.
   */
  rejectShort(db: Queryable, lines: readonly StockLine[]): Promise<never>
  /** @throws `INVENTORY_SHORT` when the owner contests units that it does not have. */
  assertNotContested(db: Queryable, owner: string): Promise<void>
  /** Posts a request that the writer applies after commit, once per request id. */
  post(tx: Transaction, request: OrderRequest): Promise<void>
  /**
   * Returns the newest items whose available quantity is at or below their threshold, and their total
   * number.
   */
  lowStock(limit: number): ReturnType<ItemService['listLow']>
  /** Exports all stock as a CSV file with one row per variant and location. */
  exportCsv: ExportStockCsv
  /**
   * Checks the whole stock ledger and returns the discrepancies. With `repair`, also corrects those that
   * it can.
   */
  check(options: { repair: boolean }): Promise<CheckReport>
}

/** Stock by variant and location, and the reservations of orders. */
export const inventoryModule = defineModule({
  name: 'inventory',
  description: 'Stock of each variant by location, reservations and movements.',
  basePaths: ['/api/inventory'],
  settings: inventorySettings,
  requires: {},
  uses: {},
  emits: [stockCrossed, stockShort, stockTaken, stockLost],
  subscribes: [stockCrossed],
  jobs: [announceLocation, checkLedger],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'Reservations and movements hold ids of orders and administrators only.',
  setup: async ({ db, broadcast, timers, emit, enqueue, log, metrics }, { queue_max: queueMax }) => {
    const changes = createAvailabilityChanges(broadcast)
    const { available, start } = createAvailability({ db, changes })
    await start()
    const crossings = createCrossings({ changes, emit })
    const kits = createKits({ db, changes })
    const publisher = createStockPublisher({ changes, emit })
    const writer = createWriter({ db, kits, publisher, log, metrics, queueMax })
    startStockTimers({ timers, db, writer })
    const { postAll, ...reservations } = createReservationApi({ writer, kits })
    const stockRequests: StockRequests = {
      post: postAll,
      outcomeOf: writer.outcomeOf,
      outcomesOf: writer.outcomesOf
    }
    const saveItems = createSaveItems({ crossings })
    const { upsertItems, areCountsApplied, track } = createItemUpsert({ saveItems, stockRequests })
    const findingMetrics = createFindingMetrics({ db, timers, metrics })
    await findingMetrics.read()
    const ledgerCheck = createCheckService({ db, writer, kits, publisher, log, findingMetrics })
    const items = createItemService({ db, changes, crossings })
    const exportCsv = createStockExporter({ db })
    const api: InventoryApi = {
      available,
      availableIn,
      upsertItems,
      listItems: ids => listItemSummaries(db, ids),
      areCountsApplied,
      ...reservations,
      lowStock: limit => items.listLow({ limit, count: true }),
      exportCsv,
      check: ledgerCheck.check
    }
    const routes = (tiers: Tiers) => {
      availabilityRoutes(tiers, createAvailabilityService(available))
      locationRoutes(tiers, createLocationService({ db, changes, enqueue }))
      itemRoutes(tiers, items)
      levelRoutes(tiers, createLevelService({ db, stockRequests, track }))
      movementRoutes(tiers, createMovementService({ db }))
      reservationRoutes(tiers, createReservationService({ db }))
      csvRoutes(tiers, exportCsv, createStockImporter({ db, stockRequests, saveItems }))
      checkRoutes(tiers, ledgerCheck)
    }
    return {
      api,
      routes,
      eventHandlers: { 'inventory.crossed': markCrossedItems },
      jobHandlers: {
        'inventory.check_books': async (_job, signal) => {
          await correctLowStockMarks(db, signal)
          await runDailyCheck(ledgerCheck, log, signal)
        },
        'inventory.announce_location': ({ payload }, signal) =>
          publishItemsAt({ db, kits, publisher }, payload.location_id, signal)
      },
      stop: writer.stop
    }
  }
})
