import { newId } from '../../src/kernel/ids.ts'
import type { AvailabilityChangeBroadcaster } from '../../src/modules/inventory/availability/changes.ts'
import type { StockStatusChange } from '../../src/modules/inventory/decisions/state.ts'
import {
  createStockReservationApi,
  type StockRequestLine
} from '../../src/modules/inventory/reservations/api.ts'
import { expireStockReservations } from '../../src/modules/inventory/reservations/expiry.ts'
import type {
  StockLevelShortfall,
  UnitsTakenFromUnpaidOrder
} from '../../src/modules/inventory/writer/batch.ts'
import { createKitComponentCache } from '../../src/modules/inventory/writer/kit-components.ts'
import type { StockRequestOperation } from '../../src/modules/inventory/writer/requests.ts'
import { createStockWriter } from '../../src/modules/inventory/writer/writer.ts'
import type { Log } from '../../src/platform/log.ts'
import { createMetricRegistry } from '../../src/platform/metrics/registry.ts'
import { type Database, openDatabase } from '../../src/platform/postgres/database.ts'
import { testDatabaseOptions } from './database-options.ts'

type StockOptions = {
  queueMax?: number
  /** Wraps the database, for example to crash the process. */
  around?: (db: Database) => Database
}

const WAIT_MS = 20_000
/** The stock of one process: a writer and the reservation API, without a shop. */
export function openStock(url: string, { queueMax = 20_000, around = db => db }: StockOptions = {}) {
  const db = around(openDatabase({ ...testDatabaseOptions(url), poolWaitMs: 5_000 }))
  const told = {
    crossings: [] as StockStatusChange[],
    shortfalls: [] as StockLevelShortfall[],
    takes: [] as { owner: string; isTaken: boolean }[],
    losses: [] as UnitsTakenFromUnpaidOrder[]
  }
  const logged: unknown[] = []
  const note = (...line: unknown[]) => logged.push(line)
  const log = { error: note, fatal: note, warn: note, info: note } as unknown as Log
  let forgetKits = () => {}
  const subscribe: AvailabilityChangeBroadcaster['subscribe'] = ({ onGap }) => {
    forgetKits = onGap
  }
  const changes: AvailabilityChangeBroadcaster = {
    subscribe,
    isLive: () => true,
    announce: () => {},
    invalidateLocally: () => {}
  }
  const kits = createKitComponentCache({ db, changes })
  const metrics = createMetricRegistry()
  const writer = createStockWriter({
    db,
    kits,
    publisher: {
      invalidate: () => {},
      emitCrossed: (tx, crossing) => tx.afterCommit(() => told.crossings.push(crossing)),
      emitShort: (tx, shortfall) => tx.afterCommit(() => told.shortfalls.push(shortfall)),
      emitTaken: (tx, { owner }, isTaken) => tx.afterCommit(() => told.takes.push({ owner, isTaken })),
      emitLost: (tx, loss) => tx.afterCommit(() => told.losses.push(loss))
    },
    log,
    metrics,
    queueMax
  })
  const doors = createStockReservationApi({ writer, kits })
  const soon = () => performance.now() + WAIT_MS

  /** Posts requests in a transaction of their own and returns their outcomes. */
  async function request(...posted: StockRequestOperation[]) {
    await db.transaction(tx => doors.postAll(tx, posted))
    return Promise.all(posted.map(({ id }) => writer.outcomeOf(id, soon())))
  }
  const count = (locationId: string, counts: Readonly<Record<string, number>>) =>
    request({
      kind: 'count',
      id: newId(),
      actor: null,
      reason: 'test',
      lines: Object.entries(counts).map(([itemId, onHand]) => {
        return { itemId, locationId, onHand, safety: null, sourceVersion: null }
      })
    })
  const figureOf = (metric: string, label: string, chosen: string) =>
    metrics
      .all()
      .find(({ name }) => name.endsWith(metric))
      ?.samples()
      .find(({ labels }) => labels[label] === chosen)?.value ?? 0

  return {
    db,
    writer,
    ...doors,
    told,
    logged,
    request,
    forgetKits: () => forgetKits(),
    count,
    batches: (result: string) => figureOf('batches_total', 'result', result),
    operations: (kind: string) => figureOf('operations_total', 'kind', kind),
    expire: () => expireStockReservations(db, writer),
    buy: (owner: string, lines: readonly StockRequestLine[], seconds = 120) =>
      doors.reserve(owner, lines, seconds, { deadlineAt: soon() }),
    close: async () => {
      await writer.stop()
      await db.close()
    }
  }
}
export type Stock = ReturnType<typeof openStock>
