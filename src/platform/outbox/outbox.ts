import type { EventType, JobType } from '../../kernel/events.ts'
import { newId } from '../../kernel/ids.ts'
import type { Static, TSchema } from '../../kernel/schema.ts'
import type { Transaction } from '../postgres/database.ts'
import { createConsole, type OutboxConsole } from './console.ts'
import { createDispatcher, type DispatcherDeps } from './dispatcher.ts'
import type { Handler } from './handlers.ts'
import { insertJob, insertJobs } from './rows.ts'

/**
 * Writes an event with this transaction's commit, for each module that subscribes to it; nothing where none does.
 * @throws Error for an event that the module does not declare, and for a payload of more than 64 KiB.
 */
export type Emit = <P extends TSchema>(
  tx: Transaction,
  type: EventType<string, P>,
  subject: string,
  payload: Static<P>
) => void
/**
 * Writes a job with this transaction's commit. Jobs of one `subject` run one after another in their order; a job without
 * subject waits for no other.
 * @throws Error for a job that the module does not declare, and for a payload of more than 64 KiB.
 */
export type Enqueue = <P extends TSchema>(
  tx: Transaction,
  type: JobType<string, P>,
  payload: Static<P>,
  options?: { subject?: string; delaySeconds?: number }
) => void

/** Events and jobs: written in the transaction that causes them, handled soon after, with effects exactly once. */
export type Outbox = {
  /** Sets the subscriptions: handler names by event name. Call it before the first `emit`. */
  route(handlersOf: ReadonlyMap<string, readonly string[]>): void
  attach(handlerName: string, handler: Handler): void
  emit: Emit
  enqueue: Enqueue
  /** Starts handling rows of the attached handlers, written by any process. */
  start(): void
  /** Stops claiming, waits some seconds for running handlers, and releases the rest. */
  stop(): Promise<void>
  readonly console: OutboxConsole
}

const PAYLOAD_BYTES_MAX = 65_536

type Row = { handler: string; subject: string; eventId: string; payload: string; delaySeconds: number }
/** `place`: index of the event or job within its transaction. */
type Buffered = { rows: (Row & { place: number })[]; places: number; isSent: boolean }

export function createOutbox(deps: DispatcherDeps): Outbox {
  const dispatcher = createDispatcher(deps)
  const buffers = new WeakMap<Transaction, Buffered>()
  let handlersOf: ReadonlyMap<string, readonly string[]> = new Map()
  const isWanted = new Map<string, () => boolean>()

  /** Returns the rows that this transaction writes; on first use, schedules their insert with the commit. */
  function bufferOf(tx: Transaction): Buffered {
    const present = buffers.get(tx)
    if (present !== undefined) return present
    const buffer: Buffered = { rows: [], places: 0, isSent: false }
    buffers.set(tx, buffer)
    tx.withCommit(each => {
      buffer.isSent = true
      return insert(each, buffer.rows)
    })
    tx.afterCommit(() => {
      for (const name of new Set(buffer.rows.map(({ handler }) => handler))) dispatcher.wake(name)
    })
    return buffer
  }

  function write(tx: Transaction, what: string, rows: readonly Row[]): void {
    if (rows.length === 0) return
    const buffer = bufferOf(tx)
    if (buffer.isSent) throw new Error(`${what} came after the jobs of its transaction had been sent`)
    const place = buffer.places
    buffer.places += 1
    buffer.rows.push(...rows.map(row => ({ ...row, place })))
  }

  return {
    route: routes => {
      handlersOf = routes
    },
    attach: (name, handler) => {
      if ('handleEvents' in handler && handler.isWanted !== undefined) isWanted.set(name, handler.isWanted)
      dispatcher.attach(name, handler)
    },
    emit: (tx, { name }, subject, given) => {
      const handlers = (handlersOf.get(name) ?? []).filter(handler => isWanted.get(handler)?.() !== false)
      if (handlers.length === 0) return
      const shared = { subject, eventId: newId(), payload: textOf(name, given), delaySeconds: 0 }
      write(
        tx,
        name,
        handlers.map(handler => ({ handler, ...shared }))
      )
    },
    enqueue: (tx, { name }, given, { subject = newId(), delaySeconds = 0 } = {}) =>
      write(tx, name, [
        { handler: name, subject, eventId: newId(), payload: textOf(name, given), delaySeconds }
      ]),
    start: dispatcher.start,
    stop: dispatcher.stop,
    console: createConsole(deps.db, dispatcher.wake)
  }
}

function insert(tx: Transaction, rows: Buffered['rows']): Promise<number> {
  const [first, second] = rows
  if (first !== undefined && second === undefined && first.delaySeconds === 0) {
    const { delaySeconds: _, place: __, ...row } = first
    return tx.run(insertJob, row)
  }
  return tx.run(insertJobs, {
    handlers: rows.map(({ handler }) => handler),
    subjects: rows.map(({ subject }) => subject),
    eventIds: rows.map(({ eventId }) => eventId),
    payloads: rows.map(({ payload }) => payload),
    delays: rows.map(({ delaySeconds }) => delaySeconds),
    places: rows.map(({ place }) => place)
  })
}

/** @throws Error when the payload is too long: an event names what happened, and consumers read the rest. */
function textOf(name: string, payload: unknown): string {
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) > PAYLOAD_BYTES_MAX)
    throw new Error(`the payload of ${name} has more than ${PAYLOAD_BYTES_MAX} bytes`)
  return text
}
