import type { Tiers } from '../../gateway/routing/tiers.ts'
import { keptForYears } from '../../kernel/retention.ts'
import { defineModule } from '../../module.ts'
import type { InventoryApi } from './api.ts'
import { createAvailabilityCache } from './availability/cache.ts'
import { createAvailabilityChangeBroadcaster } from './availability/changes.ts'
import { availabilityRoutes } from './availability/routes.ts'
import { createAvailabilityService, readAvailableQuantities } from './availability/service.ts'
import { createStockExporter } from './csv/export.ts'
import { createStockImporter } from './csv/import.ts'
import { stockCsvRoutes } from './csv/routes.ts'
import type { InventoryItemQuantity } from './decisions/state.ts'
import { stockCrossedEvent, stockLostEvent, stockShortEvent, stockTakenEvent } from './events.ts'
import { correctLowStockMarks, refreshLowStockMarks } from './items/low-stock.ts'
import { createStockPolicyChangePublisher } from './items/policy-publisher.ts'
import { inventoryItemRoutes } from './items/routes.ts'
import { createInventoryItemSaver } from './items/save.ts'
import { createInventoryItemService } from './items/service.ts'
import {
  createInventoryItemUpsert,
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
import { sumStockMovementsBefore } from './movements/balances.ts'
import { stockMovementRoutes } from './movements/routes.ts'
import { createStockMovementReader } from './movements/service.ts'
import {
  createStockReservationApi,
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

export type { InventoryApi } from './api.ts'
export { stockCrossedEvent, stockLostEvent, stockShortEvent, stockTakenEvent } from './events.ts'

export type {
  InventoryItemQuantity,
  InventoryItemSummary,
  StockLedgerCheckReport,
  StockRequestLine,
  TakeContestedStockRequest,
  UnpaidOrderStockClaim
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
  setup: async (
    { db, broadcast, timers, emit, enqueue, log, metrics },
    { queue_max: queueMax, movement_retention_years: movementYears }
  ) => {
    const changes = createAvailabilityChangeBroadcaster(broadcast)
    const { available, availableCached, start } = createAvailabilityCache({ db, changes })
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
      availableCached,
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
          const keptSince = keptForYears(movementYears)(new Date())
          await sumStockMovementsBefore(db, keptSince, signal)
          await runDailyStockLedgerCheck(ledgerCheck, log, signal)
        },
        'inventory.announce_location': ({ payload }, signal) =>
          publishStockStatusChangesAtLocation({ db, kits, publisher }, payload.location_id, signal)
      },
      stop: writer.stop
    }
  }
})
