import { newId } from '../../../kernel/ids.ts'
import type { Changes } from '../../../platform/kept.ts'
import type { Log } from '../../../platform/log.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { RUN_MS_MAX } from '../deliveries/jobs.ts'
import { noteFailure, noteSuccess } from '../endpoints/repository.ts'
import { endpointDisabled } from '../events.ts'
import { pauseSeconds } from './pause.ts'
import * as repository from './repository.ts'
import type { Send, Try } from './request.ts'

type Deps = {
  db: Database
  log: Log
  emit: Emit
  changes: Changes
  send: Send
  /** Requests to one endpoint. */
  atOnce: number
  /** How long others leave alone what is being sent. */
  leaseSeconds: number
  disableAfterDays: number
  count: (result: 'delivered' | 'failed' | 'dead') => void
}
/** What this process sends to one endpoint at this moment. */
type Run = { readonly lanes: Set<Promise<void>>; readonly endsAt: number; readonly signal: AbortSignal }

/** Sends what is due. Endpoints do not wait for each other, and each gets so many requests at once. */
export function createSending(deps: Deps) {
  const { db, send, atOnce, leaseSeconds } = deps
  const settle = createSettling(deps)
  const runs = new Map<string, Run>()

  async function lane(endpoint_id: string, run: Run): Promise<void> {
    while (!run.signal.aborted && performance.now() < run.endsAt) {
      const lease = newId()
      const claimed = await db.first(repository.claimDelivery, { endpoint_id, lease, seconds: leaseSeconds })
      if (claimed === undefined) return
      // There may be more.
      addLane(endpoint_id, run)
      const outcome = await send(claimed, run.signal)
      // Nobody knows whether it arrived; it is sent again with the same id.
      if (run.signal.aborted && outcome.status_code === null)
        return void (await db.run(repository.giveBack, { id: claimed.id, lease }))
      await settle(claimed, lease, outcome)
    }
  }

  function addLane(endpointId: string, run: Run): void {
    if (run.lanes.size >= atOnce) return
    const added = lane(endpointId, run).finally(() => run.lanes.delete(added))
    run.lanes.add(added)
    // Whoever waits for the run hears of it.
    added.catch(() => {})
  }

  return {
    /** All that is due for an endpoint, or as much as there is time for. */
    drain: async (endpointId: string, signal: AbortSignal): Promise<void> => {
      const present = runs.get(endpointId)
      if (present !== undefined) return addLane(endpointId, present)
      const run: Run = { lanes: new Set(), endsAt: performance.now() + RUN_MS_MAX, signal }
      runs.set(endpointId, run)
      try {
        addLane(endpointId, run)
        while (run.lanes.size > 0) await Promise.all(run.lanes)
      } finally {
        runs.delete(endpointId)
      }
    },
    /** Once the requests under way have ended, and are noted or given back. */
    stop: async (): Promise<void> => {
      await Promise.allSettled([...runs.values()].flatMap(({ lanes }) => [...lanes]))
    },
    listDue: async (): Promise<string[]> => (await db.rows(repository.listDueEndpoints)).map(({ id }) => id)
  }
}

/** Notes what became of a try, for the delivery and for its endpoint. */
function createSettling({ db, log, emit, changes, disableAfterDays, count }: Deps) {
  async function blame(tx: Transaction, id: string, { isGone, error, answer }: Try) {
    const noted = await tx.first(noteFailure, { id, is_gone: isGone, days: disableAfterDays })
    if (noted === undefined || noted.active) return
    const { disabled_reason: reason, failing_since: since } = noted
    if (reason === null || since === null || error === null) return
    const said = { endpoint_id: id, reason, failing_since: since.toISOString(), error, answer }
    emit(tx, endpointDisabled, id, said)
    changes.announce(tx)
    log.warn({ endpoint: id, reason }, 'an endpoint of webhooks is switched off')
  }

  return async (claimed: repository.ClaimedRow, lease: string, outcome: Try): Promise<void> => {
    const { id, endpoint_id, tries, is_failing } = claimed
    const { at, ms, status_code, error, answer, isGone, retryAfterSeconds } = outcome
    const pause = isGone ? undefined : pauseSeconds(tries, Math.random(), retryAfterSeconds)
    const status = error === null ? 'delivered' : pause === undefined ? 'dead' : 'pending'
    const note = { at, ms, status_code, error, answer, attempt_id: newId() }
    const settled = { id, lease, status, pause_seconds: pause ?? 0, ...note } as const
    const isNoted = async (): Promise<boolean> => {
      if (status === 'delivered' && !is_failing) return (await db.run(repository.settleDelivery, settled)) > 0
      return db.transaction(async tx => {
        if ((await tx.run(repository.settleDelivery, settled)) === 0) return false
        if (status === 'delivered') await tx.run(noteSuccess, { id: endpoint_id })
        else await blame(tx, endpoint_id, outcome)
        return true
      })
    }
    // Another one has it by now, or it is canceled.
    if (!(await isNoted())) return
    if (status === 'dead') log.warn({ delivery: id, endpoint: endpoint_id, error }, 'a webhook is not sent')
    count(status === 'pending' ? 'failed' : status)
  }
}
