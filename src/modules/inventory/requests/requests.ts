import { setTimeout as delay } from 'node:timers/promises'
import type { Queryable, Transaction } from '../../../platform/postgres/database.ts'
import type { RowOf } from '../../../platform/postgres/statement.ts'
import { inventoryBusy } from '../errors.ts'
import type { Adjust, Count, Operation, Outcome, Request, Take, Unship } from '../stock/state.ts'
import * as repository from './repository.ts'

/** What can be posted: what an order says of its reservations, a count, an adjustment. */
export type Posted = (Request | Take | Unship | Count | Adjust) & { readonly actor?: string | null }
/** `failed`: it made its batch fail alone, and is not tried again; the log says why. */
export type RequestOutcome = Outcome | { readonly kind: 'failed' }
export type Waiting = { readonly operation: Operation; readonly ageSeconds: number }

const POLL_MS = 50
const REQUESTS_MAX = 128
const LINES_MAX = 300

/** Writes requests into the caller's transaction, and answers the ids of those that were not there. */
export async function postRequests(tx: Transaction, posted: readonly Posted[]): Promise<ReadonlySet<string>> {
  const rows = await tx.rows(repository.insertRequests, {
    ids: posted.map(({ id }) => id),
    kinds: posted.map(({ kind }) => kind),
    owners: posted.map(each => ('owner' in each ? each.owner : '')),
    lines: posted.map(each => JSON.stringify(linesOf(each))),
    actors: posted.map(({ actor }) => actor ?? ''),
    reasons: posted.map(each => ('reason' in each ? (each.reason ?? '') : ''))
  })
  return new Set(rows.map(({ id }) => id))
}

function linesOf(posted: Posted): repository.RequestLines {
  if ('lines' in posted) return { lines: posted.lines }
  if ('shipment' in posted) return { shipment: posted.shipment }
  if (posted.kind === 'take') return { parts: posted.parts, victims: posted.victims }
  return { parts: posted.parts, locationId: posted.locationId }
}

function operationOf(row: RowOf<typeof repository.listRequests>): Operation {
  const { id, kind, lines, owner, actor, reason } = row
  if (kind === 'count') return { kind, id, lines: lines.lines as Count['lines'], actor, reason }
  if (kind === 'adjust') return { kind, id, lines: lines.lines as Adjust['lines'], actor, reason }
  if (kind === 'unship') return { kind, id, owner: owner ?? '', shipment: lines.shipment ?? '' }
  if (kind === 'take')
    return { kind, id, owner: owner ?? '', parts: lines.parts ?? [], victims: lines.victims ?? [] }
  return { kind, id, owner: owner ?? '', parts: lines.parts ?? null, locationId: lines.locationId ?? null }
}

/**
 * The requests that wait for the longest time, for this transaction to do: as many as fit into a batch. None while
 * another process is at it, which keeps their order.
 */
export async function takeRequests(
  tx: Transaction,
  requestsMax = REQUESTS_MAX
): Promise<{ waiting: Waiting[]; areMore: boolean }> {
  const lock = await tx.first(repository.lockRequests)
  if (!lock?.is_mine) return { waiting: [], areMore: false }
  const rows = await tx.rows(repository.listRequests, { limit: requestsMax })
  const waiting: Waiting[] = []
  let lines = 0
  for (const row of rows) {
    lines += row.lines.lines?.length ?? row.lines.victims?.length ?? row.lines.parts?.length ?? 1
    if (lines > LINES_MAX && waiting.length > 0) break
    waiting.push({ operation: operationOf(row), ageSeconds: row.age_seconds })
  }
  const areMore = waiting.length < rows.length || rows.length === requestsMax
  return { waiting: await limitTakes(tx, waiting), areMore }
}

/** Units that an order gave up since it posted a take are not taken. */
async function limitTakes(tx: Transaction, waiting: readonly Waiting[]): Promise<Waiting[]> {
  const owners = waiting.flatMap(({ operation }) => (operation.kind === 'take' ? [operation.owner] : []))
  const rows = owners.length === 0 ? [] : await tx.rows(repository.lockContested, { owners })
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

/** Notes what became of requests, in the transaction that did them. */
export const finishRequests = (
  tx: Transaction,
  ids: readonly string[],
  outcomes: readonly RequestOutcome[]
): Promise<number> =>
  tx.run(repository.finishRequests, { ids, outcomes: outcomes.map(each => JSON.stringify(each)) })

/** Those who wait for the outcome of what they posted. */
export function createWaiters(db: Queryable) {
  const waiters = new Map<string, PromiseWithResolvers<RequestOutcome>>()
  const waiterOf = (id: string) => {
    const waiter = waiters.get(id) ?? Promise.withResolvers<RequestOutcome>()
    waiters.set(id, waiter)
    return waiter
  }

  /**
   * What became of these different requests, of this process or of another one, now or long ago.
   * @throws `INVENTORY_BUSY` when they are not done by the deadline; they will be.
   */
  async function outcomesOf(ids: readonly string[], deadlineAt: number): Promise<readonly RequestOutcome[]> {
    const mine = new Map(ids.map(id => [id, waiterOf(id)]))
    const told = Promise.all([...mine.values()].map(({ promise }) => promise))
    try {
      for (;;) {
        const rows = await db.rows(repository.listOutcomes, { ids })
        const outcomes = new Map(rows.map(row => [row.id, row.outcome]))
        for (const [id, outcome] of outcomes) if (outcome !== null) mine.get(id)?.resolve(outcome)
        if (outcomes.size < ids.length && performance.now() > deadlineAt)
          throw inventoryBusy({ retryAfterSeconds: 1 })
        const all = await Promise.race([told, delay(POLL_MS)])
        if (all !== undefined) return all
      }
    } finally {
      for (const id of ids) waiters.delete(id)
    }
  }

  return {
    tell: (id: string, outcome: RequestOutcome) => waiters.get(id)?.resolve(outcome),
    outcomesOf,
    outcomeOf: async (id: string, deadlineAt: number): Promise<RequestOutcome> => {
      const [outcome] = await outcomesOf([id], deadlineAt)
      return outcome as RequestOutcome
    }
  }
}
