import { DomainError } from '../../kernel/errors.ts'
import type { JobDelivery } from '../../kernel/events.ts'
import { newId } from '../../kernel/ids.ts'
import { EventPositionPendingError } from '../event-log/positions.ts'
import type { Log } from '../log.ts'
import type { Database, Transaction } from '../postgres/database.ts'
import { type ClaimedJobBatch, JobLeaseLostError, type OutboxJobClaims } from './claims.ts'
import type { EventFollowUp, EventOrJobHandler } from './handlers.ts'
import type { ClaimedJob } from './job-queries.ts'
import * as repository from './job-queries.ts'
import type { JobAttemptResult } from './metrics.ts'
import { JOB_ATTEMPTS_MAX } from './retry-delay.ts'

type Deps = {
  db: Database
  log: Log
  claims: OutboxJobClaims
  count: (result: JobAttemptResult, amount?: number) => void
  /** Aborts when the process stops. */
  signal: AbortSignal
  /** Name of the handler. */
  name: string
  handler: EventOrJobHandler
  /** The follow-ups of the handler that are not done. */
  followUps: Set<Promise<void>>
}

/** Deadline of the transaction in which an event handler runs. */
const EVENT_HANDLER_MS_MAX = 5_000
/** Deadline of the follow-up of an event. */
const FOLLOW_UP_MS_MAX = 120_000
/** Delay of the next attempt after an error that is no failure of the event. */
const UNAVAILABLE_SECONDS = 1
const DATABASE_FAULTS = ['DATABASE_UNAVAILABLE', 'DATABASE_READ_ONLY', 'DATABASE_FULL']

/** Runs the handler for claimed rows and settles them by its outcome. */
export function createHandlerRunner({ db, log, claims, count, signal, name, handler, followUps }: Deps) {
  /** The interval of a schedule's row; undefined for a job of the same handler that was enqueued once. */
  const intervalSecondsOf = ({ id }: ClaimedJob) =>
    'runJob' in handler && id === 0 ? handler.intervalSeconds : undefined

  /** Batches with a follow-up that is not done. */
  const awaited = new Set<ClaimedJobBatch>()

  async function handle(claimed: ClaimedJobBatch): Promise<void> {
    try {
      await handleAll(claimed)
    } finally {
      if (!awaited.has(claimed)) claims.settle(claimed)
    }
  }

  async function handleAll(claimed: ClaimedJobBatch): Promise<void> {
    const [exhausted, rows] = partition(claimed.rows, row => row.attempts > JOB_ATTEMPTS_MAX && row.id > 0)
    for (const row of exhausted)
      await recordFailure(claimed, row, 'its process ended each time that it was tried')
    const [abandoned, others] = partition(rows, row => row.was_abandoned)
    await release(claimed, abandoned.slice(1))
    // Events that failed before run alone, because a failure rolls back all events of the transaction.
    const [failing, fresh] = partition(others, row => row.has_failed)
    // Events whose process died come last, because they may crash this process as well.
    await handleOneByOne(claimed, [
      ...(await handleInOneTransaction(claimed, fresh)),
      ...failing,
      ...abandoned.slice(0, 1)
    ])
  }

  /** Handles the rows in one transaction. Returns those to retry alone. */
  async function handleInOneTransaction(
    claimed: ClaimedJobBatch,
    rows: readonly ClaimedJob[]
  ): Promise<readonly ClaimedJob[]> {
    if (rows.length < 2) return rows
    try {
      await attempt(claimed, rows)
      return []
    } catch (error) {
      if (!isNoFailure(error)) return rows
      await release(claimed, rows, UNAVAILABLE_SECONDS)
      return []
    }
  }

  async function handleOneByOne(claimed: ClaimedJobBatch, rows: readonly ClaimedJob[]): Promise<void> {
    for (const [index, row] of rows.entries()) {
      if (signal.aborted || performance.now() + EVENT_HANDLER_MS_MAX > claimed.leaseEndsAt)
        return release(claimed, rows.slice(index))
      try {
        await attempt(claimed, [row])
      } catch (error) {
        if (isNoFailure(error)) return release(claimed, rows.slice(index), UNAVAILABLE_SECONDS)
        if (signal.aborted && 'runJob' in handler) return release(claimed, rows.slice(index))
        // Another process claimed the row, or it was discarded. The effect is rolled back, so nothing is left to do.
        if (!(error instanceof JobLeaseLostError)) await recordFailure(claimed, row, error)
      }
    }
  }

  async function attempt(claimed: ClaimedJobBatch, rows: readonly ClaimedJob[]): Promise<void> {
    if ('handleEvents' in handler) {
      const { handleEvents } = handler
      const followUp = await db.transaction(
        async tx => {
          const handling = handleEvents(tx, rows.map(deliveryOf) as JobDelivery<never>[])
          const deadline = AbortSignal.timeout(EVENT_HANDLER_MS_MAX)
          const wanted = (await untilAborted<unknown>(handling, deadline)) as EventFollowUp | undefined
          if (wanted === undefined) await finish(tx, claimed, rows)
          return wanted
        },
        { deadlineAt: performance.now() + EVENT_HANDLER_MS_MAX }
      )
      if (followUp !== undefined) return startFollowUp(claimed, rows, followUp)
    } else for (const row of rows) await runJob(handler, claimed, row)
    count('done', rows.length)
  }

  async function finish(tx: Transaction, claimed: ClaimedJobBatch, rows: readonly ClaimedJob[]) {
    const done = await tx.run(repository.finishClaimedJobs, claims.keysOf(claimed, rows))
    if (done !== rows.length) throw new JobLeaseLostError()
    for (const { subject } of rows.filter(row => row.has_failed))
      await tx.run(repository.makeJobsBehindFailedDue, { handler: name, subject })
  }

  /** Runs a follow-up while the handler goes on. Its rows stay claimed until it is done. */
  function startFollowUp(claimed: ClaimedJobBatch, rows: readonly ClaimedJob[], followUp: EventFollowUp) {
    awaited.add(claimed)
    const ended = AbortSignal.any([
      signal,
      claims.keepRenewing(claimed),
      AbortSignal.timeout(FOLLOW_UP_MS_MAX)
    ])
    const run = async () => {
      try {
        await untilAborted(followUp(ended), ended)
        await db.transaction(tx => finish(tx, claimed, rows))
        count('done', rows.length)
      } catch (error) {
        if (signal.aborted || isNoFailure(error))
          return await release(claimed, rows, signal.aborted ? 0 : UNAVAILABLE_SECONDS)
        if (!(error instanceof JobLeaseLostError))
          for (const row of rows) await recordFailure(claimed, row, error)
      } finally {
        awaited.delete(claimed)
        claims.settle(claimed)
      }
    }
    const running = run()
      .catch(error => log.error({ handler: name, err: error }, 'the outcome of an event cannot be recorded'))
      .finally(() => followUps.delete(running))
    followUps.add(running)
  }

  async function runJob(
    job: Extract<EventOrJobHandler, { runJob: unknown }>,
    claimed: ClaimedJobBatch,
    row: ClaimedJob
  ): Promise<void> {
    const ended = AbortSignal.any([
      signal,
      claims.keepRenewing(claimed),
      AbortSignal.timeout(job.timeoutSeconds * 1_000)
    ])
    await untilAborted(job.runJob(deliveryOf(row) as JobDelivery<never>, ended), ended)
    const { subject } = row
    const { lease } = claimed
    const intervalSeconds = intervalSecondsOf(row)
    await db.transaction(async tx => {
      if (intervalSeconds === undefined) return finish(tx, claimed, [row])
      const next = { handler: name, subject, lease, eventId: newId(), intervalSeconds }
      if ((await tx.run(repository.planNextRun, next)) !== 1) throw new JobLeaseLostError()
      if (row.has_failed) await tx.run(repository.makeJobsBehindFailedDue, { handler: name, subject })
    })
  }

  async function release(claimed: ClaimedJobBatch, rows: readonly ClaimedJob[], seconds = 0): Promise<void> {
    if (rows.length === 0) return
    await claims.release(claimed, rows, seconds)
    count('given_back', rows.length)
  }

  async function recordFailure(claimed: ClaimedJobBatch, row: ClaimedJob, error: unknown): Promise<void> {
    const isDead = await claims.recordFailure(claimed, row, error, intervalSecondsOf(row))
    count(isDead ? 'dead' : 'failed')
    if (!isDead) return
    const { id, event_id, subject, attempts } = row
    log.error({ handler: name, id, event_id, subject, attempts, err: error }, 'event is dead')
  }

  return { handle }
}

const deliveryOf = ({ event_id, subject, payload, since, log_id }: ClaimedJob): JobDelivery => ({
  id: event_id,
  subject,
  payload,
  since,
  logId: log_id
})

/** Whether the database is unavailable or an event has no position yet. Neither counts as a failure of the event. */
const isNoFailure = (error: unknown) =>
  error instanceof EventPositionPendingError ||
  (error instanceof DomainError && DATABASE_FAULTS.includes(error.code))

/** @throws when `signal` aborts first, because an aborted job is not done. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  aborted.promise.catch(() => {})
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const value = await Promise.race([work, aborted.promise])
    signal.throwIfAborted()
    return value
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function partition<T>(all: readonly T[], is: (each: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter(each => !is(each))]
}
