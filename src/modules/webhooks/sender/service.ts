import { newId } from '../../../kernel/ids.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { Log } from '../../../platform/log.ts'
import type { Emit } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { WEBHOOK_SENDING_RUN_MS_MAX } from '../deliveries/jobs.ts'
import { recordWebhookEndpointFailure, recordWebhookEndpointSuccess } from '../endpoints/repository.ts'
import { endpointDisabledEvent } from '../events.ts'
import type { SendWebhookRequest, WebhookAttemptOutcome } from './http-request.ts'
import * as repository from './repository.ts'
import { webhookRetryDelaySeconds } from './retry-schedule.ts'

type Deps = {
  db: Database
  log: Log
  emit: Emit
  invalidation: CacheInvalidator
  sendRequest: SendWebhookRequest
  /** Maximum simultaneous requests of this process to one endpoint. */
  concurrency: number
  /** Time after which another process may send a claimed delivery again. */
  leaseSeconds: number
  disableAfterDays: number
  count: (result: 'delivered' | 'failed' | 'dead') => void
}
/** The requests of this process to one endpoint. Each lane sends one delivery after the other. */
type EndpointRun = {
  readonly lanes: Set<Promise<void>>
  readonly endsAt: number
  readonly signal: AbortSignal
}

/** Sends due deliveries. Each endpoint has its own lanes, so a slow endpoint does not delay others. */
export function createWebhookDeliverySender(deps: Deps) {
  const { db, sendRequest, concurrency, leaseSeconds } = deps
  const storeAttempt = createAttemptStore(deps)
  const runs = new Map<string, EndpointRun>()

  async function runLane(endpoint_id: string, run: EndpointRun): Promise<void> {
    while (!run.signal.aborted && performance.now() < run.endsAt) {
      const lease = newId()
      const claimed = await db.first(repository.claimDueWebhookDelivery, {
        endpoint_id,
        lease,
        seconds: leaseSeconds
      })
      if (claimed === undefined) return
      // More deliveries may be due, so another lane starts beside this one.
      addLane(endpoint_id, run)
      const attempt = await sendRequest(claimed, run.signal)
      // The shutdown cut the request off. It may have arrived; receivers recognize the repetition by its id.
      if (run.signal.aborted && attempt.status_code === null)
        return void (await db.run(repository.releaseWebhookDelivery, { id: claimed.id, lease }))
      await storeAttempt(claimed, lease, attempt)
    }
  }

  function addLane(endpointId: string, run: EndpointRun): void {
    if (run.lanes.size >= concurrency) return
    const lane = runLane(endpointId, run).finally(() => run.lanes.delete(lane))
    run.lanes.add(lane)
    // Avoids an unhandled rejection; `sendDue` awaits the lane and gets the error.
    lane.catch(() => {})
  }

  return {
    /** Sends the due deliveries of an endpoint, for `WEBHOOK_SENDING_RUN_MS_MAX` at most. */
    sendDue: async (endpointId: string, signal: AbortSignal): Promise<void> => {
      const present = runs.get(endpointId)
      if (present !== undefined) return addLane(endpointId, present)
      const run: EndpointRun = {
        lanes: new Set(),
        endsAt: performance.now() + WEBHOOK_SENDING_RUN_MS_MAX,
        signal
      }
      runs.set(endpointId, run)
      try {
        addLane(endpointId, run)
        while (run.lanes.size > 0) await Promise.all(run.lanes)
      } finally {
        runs.delete(endpointId)
      }
    },
    /** Resolves when the running requests have ended and their deliveries are stored or released. */
    stop: async (): Promise<void> => {
      await Promise.allSettled([...runs.values()].flatMap(({ lanes }) => [...lanes]))
    },
    listDueEndpoints: async (): Promise<string[]> =>
      (await db.rows(repository.listWebhookEndpointsWithDueDeliveries)).map(({ id }) => id)
  }
}

/** Returns a function that stores an attempt, the status of its delivery and the failures of its endpoint. */
function createAttemptStore({ db, log, emit, invalidation, disableAfterDays, count }: Deps) {
  async function storeFailure(tx: Transaction, id: string, { isGone, error, answer }: WebhookAttemptOutcome) {
    const endpoint = await tx.first(recordWebhookEndpointFailure, {
      id,
      is_gone: isGone,
      days: disableAfterDays
    })
    if (endpoint === undefined || endpoint.active) return
    const { disabled_reason: reason, failing_since: since } = endpoint
    if (reason === null || since === null || error === null) return
    const payload = { endpoint_id: id, reason, failing_since: since.toISOString(), error, answer }
    emit(tx, endpointDisabledEvent, id, payload)
    invalidation.publish(tx)
    log.warn({ endpoint: id, reason }, 'an endpoint of webhooks is switched off')
  }

  return async (
    claimed: repository.ClaimedWebhookDeliveryRow,
    lease: string,
    attempt: WebhookAttemptOutcome
  ): Promise<void> => {
    const { id, endpoint_id, tries, is_failing } = claimed
    const { at, ms, status_code, error, answer, isGone, retryAfterSeconds } = attempt
    const delaySeconds = isGone
      ? undefined
      : webhookRetryDelaySeconds(tries, Math.random(), retryAfterSeconds)
    const status = error === null ? 'delivered' : delaySeconds === undefined ? 'dead' : 'pending'
    const row = {
      id,
      lease,
      status,
      delay_seconds: delaySeconds ?? 0,
      attempt_id: newId(),
      at,
      ms,
      status_code,
      error,
      answer
    } as const
    const store = async (): Promise<boolean> => {
      if (status === 'delivered' && !is_failing)
        return (await db.run(repository.recordWebhookAttempt, row)) > 0
      return db.transaction(async tx => {
        if ((await tx.run(repository.recordWebhookAttempt, row)) === 0) return false
        if (status === 'delivered') await tx.run(recordWebhookEndpointSuccess, { id: endpoint_id })
        else await storeFailure(tx, endpoint_id, attempt)
        return true
      })
    }
    // Returns false when another process has taken over the delivery, or when it was canceled.
    if (!(await store())) return
    if (status === 'dead') log.warn({ delivery: id, endpoint: endpoint_id, error }, 'a webhook is not sent')
    count(status === 'pending' ? 'failed' : status)
  }
}
