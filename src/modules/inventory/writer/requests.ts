import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import type {
  OrderStockOperation,
  StockAdjustOperation,
  StockCountOperation,
  StockOperation,
  StockOperationOutcome,
  TakeContestedStockOperation,
  UndoShipmentStockOperation
} from '../decisions/state.ts'
import { stockWriterBusyError } from '../errors.ts'
import * as repository from './requests-repository.ts'

/** A request that can be posted: a change of an order's units, a count or an adjustment. */
export type StockRequestOperation = (
  | OrderStockOperation
  | TakeContestedStockOperation
  | UndoShipmentStockOperation
  | StockCountOperation
  | StockAdjustOperation
) & { readonly actor?: string | null }
/** `failed`: the request failed in a batch of its own and is not retried; the log has the cause. */
export type StockRequestOutcome = StockOperationOutcome | { readonly kind: 'failed' }
export type PendingStockRequest = { readonly operation: StockOperation; readonly ageSeconds: number }

const POLL_MS = 50
const REQUESTS_MAX = 128
const LINES_MAX = 300

/** Writes requests into the caller's transaction. Returns the ids of new requests. */
export async function enqueueStockRequests(
  tx: Transaction,
  posted: readonly StockRequestOperation[]
): Promise<ReadonlySet<string>> {
  const rows = await tx.rows(repository.insertStockRequests, {
    ids: posted.map(({ id }) => id),
    kinds: posted.map(({ kind }) => kind),
    owners: posted.map(each => ('owner' in each ? each.owner : '')),
    lines: posted.map(each => JSON.stringify(linesOf(each))),
    actors: posted.map(({ actor }) => actor ?? ''),
    reasons: posted.map(each => ('reason' in each ? (each.reason ?? '') : ''))
  })
  return new Set(rows.map(({ id }) => id))
}

function linesOf(posted: StockRequestOperation): repository.StockRequestPayload {
  if ('lines' in posted) return { lines: posted.lines }
  if ('shipment' in posted) return { shipment: posted.shipment }
  if (posted.kind === 'take') return { parts: posted.parts, victims: posted.victims }
  return { parts: posted.parts, locationId: posted.locationId }
}

function operationOf(row: RowOf<typeof repository.listPendingStockRequests>): StockOperation {
  const { id, kind, lines, owner, actor, reason } = row
  if (kind === 'count') return { kind, id, lines: lines.lines as StockCountOperation['lines'], actor, reason }
  if (kind === 'adjust')
    return { kind, id, lines: lines.lines as StockAdjustOperation['lines'], actor, reason }
  if (kind === 'unship') return { kind, id, owner: owner ?? '', shipment: lines.shipment ?? '' }
  if (kind === 'take')
    return { kind, id, owner: owner ?? '', parts: lines.parts ?? [], victims: lines.victims ?? [] }
  return { kind, id, owner: owner ?? '', parts: lines.parts ?? null, locationId: lines.locationId ?? null }
}

export const areStockRequestsPending = async (db: Queryable): Promise<boolean> =>
  (await db.first(repository.findAnyPendingStockRequest))?.is_pending === true

/**
 * Returns the oldest pending requests that fit into a batch. Returns none while another process applies
 * requests.
 */
export async function lockPendingStockRequests(
  tx: Transaction,
  requestsMax = REQUESTS_MAX
): Promise<{ waiting: PendingStockRequest[]; areMore: boolean }> {
  const lock = await tx.first(repository.tryLockStockRequests)
  if (!lock?.is_mine) return { waiting: [], areMore: false }
  const rows = await tx.rows(repository.listPendingStockRequests, { limit: requestsMax })
  const waiting: PendingStockRequest[] = []
  let lines = 0
  for (const row of rows) {
    lines += row.lines.lines?.length ?? row.lines.victims?.length ?? row.lines.parts?.length ?? 1
    if (lines > LINES_MAX && waiting.length > 0) break
    waiting.push({ operation: operationOf(row), ageSeconds: row.age_seconds })
  }
  const areMore = waiting.length < rows.length || rows.length === requestsMax
  return { waiting: await limitTakesToContested(tx, waiting), areMore }
}

/** Limits take requests to the units that their owner still contests. */
async function limitTakesToContested(
  tx: Transaction,
  waiting: readonly PendingStockRequest[]
): Promise<PendingStockRequest[]> {
  const owners = waiting.flatMap(({ operation }) => (operation.kind === 'take' ? [operation.owner] : []))
  const rows =
    owners.length === 0 ? [] : await tx.rows(repository.lockContestedStockUnitsOfOrders, { owners })
  const unitsOf = (owner: string, itemId: string) =>
    rows.find(row => row.owner === owner && row.item_id === itemId)?.quantity ?? 0
  return waiting.map(({ operation, ageSeconds }) => {
    if (operation.kind !== 'take') return { operation, ageSeconds }
    const parts = operation.parts.flatMap(({ itemId, quantity }) => {
      const units = Math.min(quantity, unitsOf(operation.owner, itemId))
      return units > 0 ? [{ itemId, quantity: units }] : []
    })
    return { operation: { ...operation, parts }, ageSeconds }
  })
}

/** Records the outcomes of requests in the transaction that applied them. */
export const finishStockRequests = (
  tx: Transaction,
  ids: readonly string[],
  outcomes: readonly StockRequestOutcome[]
): Promise<number> =>
  tx.run(repository.updateFinishedStockRequests, {
    ids,
    outcomes: outcomes.map(each => JSON.stringify(each))
  })

/** Lets callers wait for the outcomes of requests. */
export function createStockRequestOutcomeWaiters(db: Queryable) {
  const waiters = new Map<string, PromiseWithResolvers<StockRequestOutcome>>()
  const waiterOf = (id: string) => {
    const waiter = waiters.get(id) ?? Promise.withResolvers<StockRequestOutcome>()
    waiters.set(id, waiter)
    return waiter
  }

  /**
   * Waits for the outcomes of these distinct requests, whichever process applies them.
   * @throws `INVENTORY_BUSY` when they are not finished by the deadline; they stay queued.
   */
  async function outcomesOf(
    ids: readonly string[],
    deadlineAt: number
  ): Promise<readonly StockRequestOutcome[]> {
    const mine = new Map(ids.map(id => [id, waiterOf(id)]))
    const allResolved = Promise.all([...mine.values()].map(({ promise }) => promise))
    try {
      for (;;) {
        const rows = await db.rows(repository.listStockRequestOutcomes, { ids })
        const outcomes = new Map(rows.map(row => [row.id, row.outcome]))
        for (const [id, outcome] of outcomes) if (outcome !== null) mine.get(id)?.resolve(outcome)
        if (outcomes.size < ids.length && performance.now() > deadlineAt)
          throw stockWriterBusyError({ retryAfterSeconds: 1 })
        const all = await Promise.race([allResolved, delay(POLL_MS)])
        if (all !== undefined) return all
      }
    } finally {
      for (const id of ids) waiters.delete(id)
    }
  }

  return {
    resolve: (id: string, outcome: StockRequestOutcome) => waiters.get(id)?.resolve(outcome),
    outcomesOf,
    outcomeOf: async (id: string, deadlineAt: number): Promise<StockRequestOutcome> => {
      const [outcome] = await outcomesOf([id], deadlineAt)
      return outcome as StockRequestOutcome
    }
  }
}
