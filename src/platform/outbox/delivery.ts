import { DomainError } from '../../kernel/errors.ts'
import type { Delivery } from '../../kernel/events.ts'
import { newId } from '../../kernel/ids.ts'
import type { Log } from '../log.ts'
import type { Database } from '../postgres/database.ts'
import { type Claimed, type Claims, LeaseLost } from './claims.ts'
import type { Result } from './figures.ts'
import type { Handler } from './handlers.ts'
import { TRIES_MAX } from './pauses.ts'
import type { ClaimedRow } from './rows.ts'
import * as repository from './rows.ts'

type Deps = {
  db: Database
  log: Log
  claims: Claims
  count: (result: Result, amount?: number) => void
  /** The process stops. */
  signal: AbortSignal
  /** Of the handler. */
  name: string
  handler: Handler
}

/** How long the transaction of a consumer may take. */
const CONSUMER_MS_MAX = 5_000
/** How long a database that cannot be written is left alone. */
const UNAVAILABLE_SECONDS = 1
const NOT_THERE = ['DATABASE_UNAVAILABLE', 'DATABASE_READ_ONLY', 'DATABASE_FULL']

/** Has what was claimed done, and sees to whatever becomes of it. */
export function createDelivery({ db, log, claims, count, signal, name, handler }: Deps) {
  /** Of the row of a schedule. The same job may be asked for as well, and then it is over when it is done. */
  const everySecondsOf = ({ id }: ClaimedRow) =>
    'run' in handler && id === 0 ? handler.everySeconds : undefined

  async function handle(claimed: Claimed): Promise<void> {
    try {
      await handleAll(claimed)
    } finally {
      claims.settle(claimed)
    }
  }

  async function handleAll(claimed: Claimed): Promise<void> {
    const [exhausted, rows] = parted(claimed.rows, row => row.attempts > TRIES_MAX && row.id > 0)
    for (const row of exhausted) await fail(claimed, row, 'its process ended each time that it was tried')
    const [abandoned, others] = parted(rows, row => row.was_abandoned)
    await giveBack(claimed, abandoned.slice(1))
    // What has failed before may fail again, and take those with it who are done together with it.
    const [failing, fresh] = parted(others, row => row.has_failed)
    // What its process died with comes last: this one may die with it, too, and nobody else has to wait for that.
    await eachAlone(claimed, [...(await together(claimed, fresh)), ...failing, ...abandoned.slice(0, 1)])
  }

  /** In one transaction; what is left is to be tried alone. */
  async function together(claimed: Claimed, rows: readonly ClaimedRow[]): Promise<readonly ClaimedRow[]> {
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

  async function eachAlone(claimed: Claimed, rows: readonly ClaimedRow[]): Promise<void> {
    for (const [index, row] of rows.entries()) {
      if (signal.aborted || performance.now() + CONSUMER_MS_MAX > claimed.endsAt)
        return giveBack(claimed, rows.slice(index))
      try {
        await attempt(claimed, [row])
      } catch (error) {
        if (isNotThere(error)) return giveBack(claimed, rows.slice(index), UNAVAILABLE_SECONDS)
        if (signal.aborted && 'run' in handler) return giveBack(claimed, rows.slice(index))
        // Another one has the row now, or it was discarded: what was done about it is undone, and nothing else is to do.
        if (!(error instanceof LeaseLost)) await fail(claimed, row, error)
      }
    }
  }

  async function attempt(claimed: Claimed, rows: readonly ClaimedRow[]): Promise<void> {
    if ('consume' in handler) {
      await db.transaction(
        async tx => {
          const consuming = handler.consume(tx, rows.map(deliveryOf) as Delivery<never>[])
          await untilAborted(consuming, AbortSignal.timeout(CONSUMER_MS_MAX))
          const done = await tx.run(repository.finish, claims.placesOf(claimed, rows))
          if (done !== rows.length) throw new LeaseLost()
          for (const { subject } of rows.filter(row => row.has_failed))
            await tx.run(repository.wakeBehind, { handler: name, subject })
        },
        { deadlineAt: performance.now() + CONSUMER_MS_MAX }
      )
    } else for (const row of rows) await runJob(handler, claimed, row)
    count('done', rows.length)
  }

  async function runJob(
    job: Extract<Handler, { run: unknown }>,
    claimed: Claimed,
    row: ClaimedRow
  ): Promise<void> {
    const end = AbortSignal.any([signal, claims.keep(claimed), AbortSignal.timeout(job.seconds * 1_000)])
    await untilAborted(job.run(deliveryOf(row) as Delivery<never>, end), end)
    const { subject } = row
    const { lease } = claimed
    const everySeconds = everySecondsOf(row)
    await db.transaction(async tx => {
      const done =
        everySeconds === undefined
          ? await tx.run(repository.finish, claims.placesOf(claimed, [row]))
          : await tx.run(repository.finishRun, {
              handler: name,
              subject,
              lease,
              eventId: newId(),
              everySeconds
            })
      if (done !== 1) throw new LeaseLost()
      if (row.has_failed) await tx.run(repository.wakeBehind, { handler: name, subject })
    })
  }

  async function giveBack(claimed: Claimed, rows: readonly ClaimedRow[], seconds = 0): Promise<void> {
    if (rows.length === 0) return
    await claims.giveBack(claimed, rows, seconds)
    count('given_back', rows.length)
  }

  async function fail(claimed: Claimed, row: ClaimedRow, error: unknown): Promise<void> {
    const isDead = await claims.fail(claimed, row, error, everySecondsOf(row))
    count(isDead ? 'dead' : 'failed')
    if (!isDead) return
    const { id, event_id, subject, attempts } = row
    log.error({ handler: name, id, event_id, subject, attempts, err: error }, 'event is dead')
  }

  return { handle }
}

const deliveryOf = ({ event_id, subject, payload, since }: ClaimedRow): Delivery => ({
  id: event_id,
  subject,
  payload,
  since
})

/** The database can do nothing at all at the moment: that is not the event's fault. */
const isNotThere = (error: unknown) => error instanceof DomainError && NOT_THERE.includes(error.code)

/** @throws when the signal comes first: what ends early has not done its job. */
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
