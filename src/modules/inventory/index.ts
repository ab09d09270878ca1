import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { createAvailability } from './availability/cache.ts'
import { createChanges } from './availability/changes.ts'
import { availabilityRoutes } from './availability/routes.ts'
import { availableIn, createAvailabilityService } from './availability/service.ts'
import { createFindingFigures } from './check/figures.ts'
import type { CheckReport } from './check/findings.ts'
import { checkBooks, checkDaily } from './check/job.ts'
import { checkRoutes } from './check/routes.ts'
import { createCheckService } from './check/service.ts'
import { createExporter, type ExportCsv } from './csv/export.ts'
import { csvRoutes } from './csv/routes.ts'
import { stockCrossed, stockLost, stockShort, stockTaken } from './events.ts'
import {
  type Claimant,
  createDoors,
  type OrderRequest,
  type StockLine,
  type StockPart,
  type TakeRequest
} from './holds/doors.ts'
import { startSweeps } from './holds/sweeps.ts'
import { importRoutes } from './import/routes.ts'
import { createStockImporter } from './import/service.ts'
import { createCrossings } from './items/crossings.ts'
import { createDescribe, type Description, describedBy, type StockDescription } from './items/describe.ts'
import { markAll, markCrossed } from './items/low-stock.ts'
import { itemRoutes } from './items/routes.ts'
import { createSaveItems } from './items/save.ts'
import { createItemService, type ItemService } from './items/service.ts'
import { levelRoutes } from './levels/routes.ts'
import { type Books, createLevelService } from './levels/service.ts'
import { announceItemsAt, announceLocation } from './locations/announce.ts'
import { locationRoutes } from './locations/routes.ts'
import { createLocationService } from './locations/service.ts'
import { movementRoutes } from './movements/routes.ts'
import { createMovementService } from './movements/service.ts'
import { reservationRoutes } from './reservations/routes.ts'
import { createReservationService } from './reservations/service.ts'
import { inventorySettings } from './settings.ts'
import { createKits } from './writer/kits.ts'
import { createTell } from './writer/tell.ts'
import { createWriter } from './writer/writer.ts'

export { stockCrossed, stockLost, stockShort, stockTaken } from './events.ts'

export type { CheckReport, Claimant, StockDescription, StockLine, StockPart, TakeRequest }

/** What other modules ask the inventory. To it the ids of variants mean nothing. */
export type InventoryApi = {
  /**
   * How many can be bought of each, in their order; null: not known, not tracked, or any number. As of a second ago at
   * most. One look-up in memory, or one statement for all that is not there.
   */
  available(variantIds: readonly string[]): Promise<(number | null)[]>
  /** The same as it is in this transaction, or now. */
  availableIn(db: Queryable, variantIds: readonly string[]): Promise<(number | null)[]>
  /** What whoever has the variants knows of them: the SKU always, the rest where it is said; what is left out stays. */
  describe(tx: Transaction, variants: readonly Description[]): Promise<void>
  /** What `describe` was told of these variants, or what became of it; without those of which nothing is known. */
  described(variantIds: readonly string[]): Promise<ReadonlyMap<string, StockDescription>>
  /**
   * Whether all is in the books that this process was told so far of how many there are. Waits for it for a while; false:
   * not yet, and it will be.
   */
  counted(): Promise<boolean>
  /**
   * Holds these lines for `owner`, all or none, for so long; before the caller's transaction. Once more with equal lines:
   * the time begins again. With others: they replace what is held.
   * @throws `INVENTORY_SHORT`: its `items` say of which there is not enough. `INVENTORY_OWNER_TAKEN`: other lines are
   * claimed. `INVENTORY_BUSY`: nothing is known to be held; the same again is safe.
   *
   * `contest`, by item: units that `take` may take from unpaid orders later. What is short by no more than these is returned as
   * contested, and not held.
   */
  reserve(
    owner: string,
    lines: readonly StockLine[],
    seconds: number,
    options?: { deadlineAt?: number; contest?: ReadonlyMap<string, number> }
  ): Promise<readonly StockPart[]>
  /** Gives back what is held, never what is claimed. */
  release(owner: string): Promise<void>
  /**
   * Within the caller's transaction: what is held becomes claimed, and is given back by `post` alone.
   * @throws `INVENTORY_CLAIM_LOST` when something else than these lines is held: reserve them once more.
   */
  claim(
    tx: Transaction,
    owner: string,
    lines: readonly StockLine[],
    contested?: readonly StockPart[]
  ): Promise<void>
  /**
   * What is claimed becomes confirmed: from now on no other owner can take it. Returns the units that the owner lacks, because it
   * contested them or lost them to an owner that confirmed first: `take` gets them, or nothing does.
   */
  confirm(tx: Transaction, owner: string): Promise<readonly StockPart[]>
  /** Owners with unpaid claims of these variants, or of parts of these kits. 5,000 claims at most. One statement. */
  claimants(db: Queryable, variantIds: readonly string[]): Promise<Claimant[]>
  /**
   * Has the owner take units once the transaction is committed, once by its id, all or none. `inventory.taken` says what became of
   * it, and `inventory.lost` tells each order that lost units, which contests them from then on.
   */
  take(tx: Transaction, request: TakeRequest): Promise<void>
  /** How many of these takes are done, whatever their outcome. */
  takesDone(db: Queryable, ids: readonly string[]): Promise<number>
  /** The owner does not want these units any more, which it contested or lost. Each item once. Returns those that it did not lack. */
  forgo(tx: Transaction, owner: string, parts: readonly StockPart[]): Promise<StockPart[]>
  /** @throws `INVENTORY_SHORT`, always: its `items` are the lines of which fewer can be bought now. One statement. */
  refuse(db: Queryable, lines: readonly StockLine[]): Promise<never>
  /** @throws `INVENTORY_SHORT` when the owner contests units that it does not have. */
  refuseContested(db: Queryable, owner: string): Promise<void>
  /** What is to be done once the transaction is committed: once, by its id. */
  post(tx: Transaction, request: OrderRequest): Promise<void>
  /** What can be bought in no greater number than its threshold says, the latest first, and of how many that is so. */
  lowStock(limit: number): ReturnType<ItemService['listLow']>
  /** All of the stock as a CSV file, a row for each variant and location. */
  exportCsv: ExportCsv
  /** Reads all books, says where they contradict each other, and puts right what can be when it is asked to. */
  check(options: { repair: boolean }): Promise<CheckReport>
}

/** What there is of each variant, and what of it can be bought. */
export const inventoryModule = defineModule({
  name: 'inventory',
  description: 'How many there are of each variant, and where.',
  basePaths: ['/api/inventory'],
  settings: inventorySettings,
  requires: {},
  uses: {},
  emits: [stockCrossed, stockShort, stockTaken, stockLost],
  hears: [stockCrossed],
  jobs: [announceLocation, checkBooks],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: 'Stock is held for orders, and changed by staff, by their ids alone.',
  setup: async ({ db, broadcast, chores, emit, enqueue, log, metrics }, { queue_max: queueMax }) => {
    const changes = createChanges(broadcast)
    const { available, start } = createAvailability({ db, changes })
    await start()
    const crossings = createCrossings({ changes, emit })
    const kits = createKits({ db, changes })
    const tell = createTell({ changes, emit })
    const writer = createWriter({ db, kits, tell, log, metrics, queueMax })
    startSweeps({ chores, db, writer })
    const { postAll, ...doors } = createDoors({ writer, kits })
    const books: Books = { post: postAll, outcomeOf: writer.outcomeOf, outcomesOf: writer.outcomesOf }
    const saveItems = createSaveItems({ crossings })
    const { describe, counted, track } = createDescribe({ saveItems, books })
    const figures = createFindingFigures({ db, chores, metrics })
    await figures.read()
    const checking = createCheckService({ db, writer, kits, tell, log, figures })
    const items = createItemService({ db, changes, crossings })
    const exportCsv = createExporter({ db })
    const api: InventoryApi = {
      ...{ available, availableIn, describe, counted, ...doors, exportCsv, check: checking.check },
      described: ids => describedBy(db, ids),
      lowStock: limit => items.listLow({ limit, count: true })
    }
    const routes = (tiers: Tiers) => {
      availabilityRoutes(tiers, createAvailabilityService(available))
      locationRoutes(tiers, createLocationService({ db, changes, enqueue }))
      itemRoutes(tiers, items)
      levelRoutes(tiers, createLevelService({ db, books, track }))
      movementRoutes(tiers, createMovementService({ db }))
      reservationRoutes(tiers, createReservationService({ db }))
      csvRoutes(tiers, exportCsv)
      checkRoutes(tiers, checking)
      importRoutes(tiers, createStockImporter({ db, books, saveItems }))
    }
    return {
      api,
      routes,
      consumers: { 'inventory.crossed': markCrossed },
      handlers: {
        'inventory.check_books': async (_job, signal) => {
          await markAll(db, signal)
          await checkDaily(checking, log, signal)
        },
        'inventory.announce_location': ({ payload }, signal) =>
          announceItemsAt({ db, kits, tell }, payload.location_id, signal)
      },
      stop: writer.stop
    }
  }
})
