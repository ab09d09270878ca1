import { DomainError } from '../../kernel/errors.ts'
import type { JobDelivery } from '../../kernel/events.ts'
import { newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Database } from '../postgres/database.ts'
import { type ClaimedJob, LeaseLost, type OutboxClaims } from './claims.ts'
import type { Handler } from './handlers.ts'
import type { DeliveryResult } from './metrics.ts'
import { TRIES_MAX } from './pauses.ts'
import type { ClaimedRow } from './rows.ts'
import * as repository from './rows.ts'

type Deps = {
  db: Database
  log: Log
  claims: OutboxClaims
  count: (result: DeliveryResult, amount?: number) => void
  /** Aborts when the process stops. */
  signal: AbortSignal
  /** Name of the handler. */
  name: string
  handler: Handler
}

/** Deadline of the transaction in which an event handler runs. */
const EVENT_HANDLER_MS_MAX = 5_000
/** Delay of the next attempt while the database cannot be written. */
const UNAVAILABLE_SECONDS = 1
const NOT_THERE = ['DATABASE_UNAVAILABLE', 'DATABASE_READ_ONLY', 'DATABASE_FULL']

/** Runs the handler for claimed rows and settles them by its outcome. */
export function createDelivery({ db, log, claims, count, signal, name, handler }: Deps) {
  /** The interval of a schedule's row; undefined for a job of the same handler that was enqueued once. */
  const intervalSecondsOf = ({ id }: ClaimedRow) =>
    'runJob' in handler && id === 0 ? handler.intervalSeconds : undefined

  async function handle(claimed: ClaimedJob): Promise<void> {
    try {
      await handleAll(claimed)
    } finally {
      claims.settle(claimed)
    }
  }

  async function handleAll(claimed: ClaimedJob): Promise<void> {
    const [exhausted, rows] = parted(claimed.rows, row => row.attempts > TRIES_MAX && row.id > 0)
    for (const row of exhausted) await fail(claimed, row, 'its process ended each time that it was tried')
    const [abandoned, others] = parted(rows, row => row.was_abandoned)
    await giveBack(claimed, abandoned.slice(1))
    // Events that failed before run alone, because a failure rolls back all events of the transaction.
    const [failing, fresh] = parted(others, row => row.has_failed)
    // Events whose process died come last, because they may crash this process as well.
    await eachAlone(claimed, [...(await together(claimed, fresh)), ...failing, ...abandoned.slice(0, 1)])
  }

  /** Handles the rows in one transaction. Returns those to retry alone. */
  async function together(claimed: ClaimedJob, rows: readonly ClaimedRow[]): Promise<readonly ClaimedRow[]> {
    if (rows.length < 2) return rows
    try {
      await attempt(claimed, rows)
      return []
    } catch (error) {
      if (!isNotThere(error)) return rows
      await giveBack(claimed, rows, UNAVAILABLE_SECONDS)
      return []
    }
  }

  async function eachAlone(claimed: ClaimedJob, rows: readonly ClaimedRow[]): Promise<void> {
    for (const [index, row] of rows.entries()) {
      if (signal.aborted || performance.now() + EVENT_HANDLER_MS_MAX > claimed.endsAt)
        return giveBack(claimed, rows.slice(index))
      try {
        await attempt(claimed, [row])
      } catch (error) {
        if (isNotThere(error)) return giveBack(claimed, rows.slice(index), UNAVAILABLE_SECONDS)
        if (signal.aborted && 'runJob' in handler) return giveBack(claimed, rows.slice(index))
        // Another process claimed the row, or it was discarded. The effect is rolled back, so nothing is left to do.
        if (!(error instanceof LeaseLost)) await fail(claimed, row, error)
      }
    }
  }

  async function attempt(claimed: ClaimedJob, rows: readonly ClaimedRow[]): Promise<void> {
    if ('handleEvents' in handler) {
      await db.transaction(
        async tx => {
          const handling = handler.handleEvents(tx, rows.map(deliveryOf) as JobDelivery<never>[])
          await untilAborted(handling, AbortSignal.timeout(EVENT_HANDLER_MS_MAX))
          const done = await tx.run(repository.finishJobs, claims.placesOf(claimed, rows))
          if (done !== rows.length) throw new LeaseLost()
          for (const { subject } of rows.filter(row => row.has_failed))
            await tx.run(repository.wakeBehind, { handler: name, subject })
        },
        { deadlineAt: performance.now() + EVENT_HANDLER_MS_MAX }
      )
    } else for (const row of rows) await runJob(handler, claimed, row)
    count('done', rows.length)
  }

  async function runJob(
    job: Extract<Handler, { runJob: unknown }>,
    claimed: ClaimedJob,
    row: ClaimedRow
  ): Promise<void> {
    const end = AbortSignal.any([
      signal,
      claims.keep(claimed),
      AbortSignal.timeout(job.timeoutSeconds * 1_000)
    ])
    await untilAborted(job.runJob(deliveryOf(row) as JobDelivery<never>, end), end)
    const { subject } = row
    const { lease } = claimed
    const intervalSeconds = intervalSecondsOf(row)
    await db.transaction(async tx => {
      const done =
        intervalSeconds === undefined
          ? await tx.run(repository.finishJobs, claims.placesOf(claimed, [row]))
          : await tx.run(repository.finishRun, {
              handler: name,
              subject,
              lease,
              eventId: newId(),
              intervalSeconds
            })
      if (done !== 1) throw new LeaseLost()
      if (row.has_failed) await tx.run(repository.wakeBehind, { handler: name, subject })
    })
  }

  async function giveBack(claimed: ClaimedJob, rows: readonly ClaimedRow[], seconds = 0): Promise<void> {
    if (rows.length === 0) return
    await claims.giveBack(claimed, rows, seconds)
    count('given_back', rows.length)
  }

  async function fail(claimed: ClaimedJob, row: ClaimedRow, error: unknown): Promise<void> {
    const isDead = await claims.fail(claimed, row, error, intervalSecondsOf(row))
    count(isDead ? 'dead' : 'failed')
    if (!isDead) return
    const { id, event_id, subject, attempts } = row
    log.error({ handler: name, id, event_id, subject, attempts, err: error }, 'event is dead')
  }

  return { handle }
}

const deliveryOf = ({ event_id, subject, payload, since }: ClaimedRow): JobDelivery => ({
  id: event_id,
  subject,
  payload,
  since
})

/** Whether the database is unavailable, which does not count as a failure of the event. */
const isNotThere = (error: unknown) => error instanceof DomainError && NOT_THERE.includes(error.code)

/** @throws when `signal` aborts first, because an aborted job is not done. */
async function untilAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const aborted = Promise.withResolvers<never>()
  const onAbort = () => aborted.reject(signal.reason)
  aborted.promise.catch(() => {})
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    await Promise.race([work, aborted.promise])
    signal.throwIfAborted()
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function parted<T>(all: readonly T[], is: (each: T) => boolean): [T[], T[]] {
  return [all.filter(is), all.filter(each => !is(each))]
}
