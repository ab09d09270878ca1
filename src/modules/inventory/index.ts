import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { createAvailabilityCache } from './availability/cache.ts'
import { createAvailabilityChangeBroadcaster } from './availability/changes.ts'
import { availabilityRoutes } from './availability/routes.ts'
import { createAvailabilityService, readAvailableQuantities } from './availability/service.ts'
import { createStockExporter, type ExportStockCsv } from './csv/export.ts'
import { createStockImporter } from './csv/import.ts'
import { stockCsvRoutes } from './csv/routes.ts'
import type { InventoryItemQuantity } from './decisions/state.ts'
import { stockCrossedEvent, stockLostEvent, stockShortEvent, stockTakenEvent } from './events.ts'
import { correctLowStockMarks, refreshLowStockMarks } from './items/low-stock.ts'
import { createStockPolicyChangePublisher } from './items/policy-publisher.ts'
import { inventoryItemRoutes } from './items/routes.ts'
import { createInventoryItemSaver } from './items/save.ts'
import { createInventoryItemService, type InventoryItemService } from './items/service.ts'
import {
  createInventoryItemUpsert,
  type InventoryItemInput,
  type InventoryItemSummary,
  listInventoryItemSummaries
} from './items/upsert.ts'
import type { StockLedgerCheckReport } from './ledger-check/findings.ts'
import { checkStockLedgerJob, runDailyStockLedgerCheck } from './ledger-check/job.ts'
import { createStockLedgerFindingMetrics } from './ledger-check/metrics.ts'
import { stockLedgerCheckRoutes } from './ledger-check/routes.ts'
import { createStockLedgerCheckService } from './ledger-check/service.ts'
import { stockLevelRoutes } from './levels/routes.ts'
import { createStockLevelService, type StockRequestQueue } from './levels/service.ts'
import { stockLocationRoutes } from './locations/routes.ts'
import { createStockLocationService } from './locations/service.ts'
import {
  announceStockLocationChangeJob,
  publishStockStatusChangesAtLocation
} from './locations/status-changes.ts'
import { stockMovementRoutes } from './movements/routes.ts'
import { createStockMovementReader } from './movements/service.ts'
import {
  createStockReservationApi,
  type OrderStockRequest,
  type StockRequestLine,
  type TakeContestedStockRequest,
  type UnpaidOrderStockClaim
} from './reservations/api.ts'
import { startStockExpiryAndCleanupTimers } from './reservations/expiry.ts'
import { reservationRoutes } from './reservations/routes.ts'
import { createReservationService } from './reservations/service.ts'
import { inventorySettings } from './settings.ts'
import { createKitComponentCache } from './writer/kit-components.ts'
import { createStockBatchPublisher } from './writer/publisher.ts'
import { createStockWriter } from './writer/writer.ts'

export { stockCrossedEvent, stockLostEvent, stockShortEvent, stockTakenEvent } from './events.ts'

export type {
  InventoryItemQuantity,
  InventoryItemSummary,
  StockLedgerCheckReport,
  StockRequestLine,
  TakeContestedStockRequest,
  UnpaidOrderStockClaim
}

/** API of inventory for other modules. Inventory does not interpret ids of variants. */
export type InventoryApi = {
  /**
   * Returns how many units of each variant can be bought, in the order of the ids. Null: unknown, not
   * tracked or unlimited. At most one second old. Costs one lookup in memory, or one statement for all
   * missing ids.
   */
  available(variantIds: readonly string[]): Promise<(number | null)[]>
  /** Returns the same as `available`, read from the database in this transaction and not from memory. */
  availableIn(db: Queryable, variantIds: readonly string[]): Promise<(number | null)[]>
  /** Creates or updates the inventory items of these variants. Omitted fields keep their value. */
  upsertItems(tx: Transaction, variants: readonly InventoryItemInput[]): Promise<void>
  /** Returns tracking, backorder policy and units on hand of these variants. Omits unknown variants. */
  listItems(variantIds: readonly string[]): Promise<ReadonlyMap<string, InventoryItemSummary>>
  /**
   * Returns whether all counts that this process posted through `upsertItems` are applied. Waits up to two
   * seconds. False: some counts are not applied yet.
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
    lines: readonly StockRequestLine[],
    seconds: number,
    options?: { deadlineAt?: number; contest?: ReadonlyMap<string, number> }
  ): Promise<readonly InventoryItemQuantity[]>
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
    lines: readonly StockRequestLine[],
    contested?: readonly InventoryItemQuantity[]
  ): Promise<void>
  /**
   * Confirms the claimed reservations of `owner`: other owners can no longer take them. Returns the units
   * that the owner lacks, because it contested them or lost them to an owner that confirmed first. Get
   * them with `take` or give them up with `forgo`.
   */
  confirm(tx: Transaction, owner: string): Promise<readonly InventoryItemQuantity[]>
  /**
   * Returns the owners with unpaid claims of these variants, or of parts of these kits. Reads at most
   * 5,000 claims, in one statement.
   */
  claimants(db: Queryable, variantIds: readonly string[]): Promise<UnpaidOrderStockClaim[]>
  /**
   * Posts a request that gives contested units to the owner after commit: all or none, once per request
   * id. Emits `inventory.taken` with the outcome, and `inventory.lost` for each order that lost units.
   * Such an order contests its lost units.
   */
  take(tx: Transaction, request: TakeContestedStockRequest): Promise<void>
  /** Returns how many of these take requests are finished, whatever their outcome. */
  countFinishedTakes(db: Queryable, ids: readonly string[]): Promise<number>
  /**
   * Deletes contested units that the owner no longer wants. Each item may appear once. Returns the units
   * that were not contested.
   */
  forgo(
    tx: Transaction,
    owner: string,
    parts: readonly InventoryItemQuantity[]
  ): Promise<InventoryItemQuantity[]>
  /**
   * Always rejects with `INVENTORY_SHORT`: `items` lists the lines that cannot be bought now. One
   * statement.
   */
  rejectShort(db: Queryable, lines: readonly StockRequestLine[]): Promise<never>
  /** @throws `INVENTORY_SHORT` when the owner contests units that it does not have. */
  assertNotContested(db: Queryable, owner: string): Promise<void>
  /** Posts a request that the writer applies after commit, once per request id. */
  post(tx: Transaction, request: OrderStockRequest): Promise<void>
  /**
   * Returns the newest items whose available quantity is at or below their threshold, and their total
   * number.
   */
  lowStock(limit: number): ReturnType<InventoryItemService['listLow']>
  /** Exports all stock as a CSV file with one row per variant and location. */
  exportCsv: ExportStockCsv
  /**
   * Checks the whole stock ledger and returns the discrepancies. With `repair`, also corrects those that
   * it can.
   */
  check(options: { repair: boolean }): Promise<StockLedgerCheckReport>
}

/** Stock by variant and location, and the reservations of orders. */
export const inventoryModule = defineModule({
  name: 'inventory',
  description: 'Stock of each variant by location, reservations and movements.',
  basePaths: ['/api/inventory'],
  settings: inventorySettings,
  requires: {},
  uses: {},
  emits: [stockCrossedEvent, stockShortEvent, stockTakenEvent, stockLostEvent],
  subscribes: [stockCrossedEvent],
  jobs: [announceStockLocationChangeJob, checkStockLedgerJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'Reservations and movements hold ids of orders and administrators only.',
  setup: async ({ db, broadcast, timers, emit, enqueue, log, metrics }, { queue_max: queueMax }) => {
    const changes = createAvailabilityChangeBroadcaster(broadcast)
    const { available, start } = createAvailabilityCache({ db, changes })
    await start()
    const crossings = createStockPolicyChangePublisher({ changes, emit })
    const kits = createKitComponentCache({ db, changes })
    const publisher = createStockBatchPublisher({ changes, emit })
    const writer = createStockWriter({ db, kits, publisher, log, metrics, queueMax })
    startStockExpiryAndCleanupTimers({ timers, db, writer })
    const { postAll, ...reservations } = createStockReservationApi({ writer, kits })
    const stockRequests: StockRequestQueue = {
      post: postAll,
      outcomeOf: writer.outcomeOf,
      outcomesOf: writer.outcomesOf
    }
    const saveItems = createInventoryItemSaver({ crossings })
    const { upsertItems, areCountsApplied, track } = createInventoryItemUpsert({ saveItems, stockRequests })
    const findingMetrics = createStockLedgerFindingMetrics({ db, timers, metrics })
    await findingMetrics.read()
    const ledgerCheck = createStockLedgerCheckService({ db, writer, kits, publisher, log, findingMetrics })
    const items = createInventoryItemService({ db, changes, crossings })
    const exportCsv = createStockExporter({ db })
    const api: InventoryApi = {
      available,
      availableIn: readAvailableQuantities,
      upsertItems,
      listItems: ids => listInventoryItemSummaries(db, ids),
      areCountsApplied,
      ...reservations,
      lowStock: limit => items.listLow({ limit, count: true }),
      exportCsv,
      check: ledgerCheck.check
    }
    const routes = (tiers: Tiers) => {
      availabilityRoutes(tiers, createAvailabilityService(available))
      stockLocationRoutes(tiers, createStockLocationService({ db, changes, enqueue }))
      inventoryItemRoutes(tiers, items)
      stockLevelRoutes(tiers, createStockLevelService({ db, stockRequests, track }))
      stockMovementRoutes(tiers, createStockMovementReader({ db }))
      reservationRoutes(tiers, createReservationService({ db }))
      stockCsvRoutes(tiers, exportCsv, createStockImporter({ db, stockRequests, saveItems }))
      stockLedgerCheckRoutes(tiers, ledgerCheck)
    }
    return {
      api,
      routes,
      eventHandlers: { 'inventory.crossed': refreshLowStockMarks },
      jobHandlers: {
        'inventory.check_books': async (_job, signal) => {
          await correctLowStockMarks(db, signal)
          await runDailyStockLedgerCheck(ledgerCheck, log, signal)
        },
        'inventory.announce_location': ({ payload }, signal) =>
          publishStockStatusChangesAtLocation({ db, kits, publisher }, payload.location_id, signal)
      },
      stop: writer.stop
    }
  }
})
