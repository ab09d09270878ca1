import type { EventType, JobType } from '../../kernel/events.ts'
import { newId } from '../../kernel/ids.ts'
import type { Static, TSchema } from '../../kernel/schema.ts'
import type { Transaction } from '../postgres/database.ts'
import { createOutboxConsole, type OutboxConsole } from './console.ts'
import { createOutboxDispatcher, type OutboxDependencies } from './dispatcher.ts'
import type { EventOrJobHandler } from './handlers.ts'
import { insertJobDueNow, insertJobs } from './job-queries.ts'

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
  setSubscriptions(handlerNamesByEvent: ReadonlyMap<string, readonly string[]>): void
  attachHandler(handlerName: string, handler: EventOrJobHandler): void
  emit: Emit
  enqueue: Enqueue
  /** Starts handling rows of the attached handlers, written by any process. */
  start(): void
  /** Stops claiming, waits some seconds for running handlers, and releases the rest. */
  stop(): Promise<void>
  readonly console: OutboxConsole
}

const PAYLOAD_BYTES_MAX = 65_536

type NewJob = { handler: string; subject: string; eventId: string; payload: string; delaySeconds: number }
/** `position`: index of the event or job within its transaction; the handlers of one event share it. */
type PositionedJob = NewJob & { position: number }
type JobBuffer = { jobs: PositionedJob[]; nextPosition: number; isSent: boolean }

export function createOutbox(deps: OutboxDependencies): Outbox {
  const dispatcher = createOutboxDispatcher(deps)
  const buffers = new WeakMap<Transaction, JobBuffer>()
  let handlersByEvent: ReadonlyMap<string, readonly string[]> = new Map()
  const isWanted = new Map<string, () => boolean>()

  /** Returns the buffer of this transaction; on first use, schedules its insert with the commit. */
  function bufferOf(tx: Transaction): JobBuffer {
    const present = buffers.get(tx)
    if (present !== undefined) return present
    const buffer: JobBuffer = { jobs: [], nextPosition: 0, isSent: false }
    buffers.set(tx, buffer)
    tx.withCommit(each => {
      buffer.isSent = true
      return insertBufferedJobs(each, buffer.jobs)
    })
    tx.afterCommit(() => {
      for (const name of new Set(buffer.jobs.map(({ handler }) => handler))) dispatcher.wake(name)
    })
    return buffer
  }

  function write(tx: Transaction, name: string, rows: readonly NewJob[]): void {
    if (rows.length === 0) return
    const buffer = bufferOf(tx)
    if (buffer.isSent) throw new Error(`${name} came after the jobs of its transaction had been sent`)
    const position = buffer.nextPosition
    buffer.nextPosition += 1
    buffer.jobs.push(...rows.map(row => ({ ...row, position })))
  }

  return {
    setSubscriptions: handlerNamesByEvent => {
      handlersByEvent = handlerNamesByEvent
    },
    attachHandler: (name, handler) => {
      if ('handleEvents' in handler && handler.isWanted !== undefined) isWanted.set(name, handler.isWanted)
      dispatcher.attach(name, handler)
    },
    emit: (tx, { name }, subject, given) => {
      const handlers = (handlersByEvent.get(name) ?? []).filter(
        handler => isWanted.get(handler)?.() !== false
      )
      if (handlers.length === 0) return
      const shared = { subject, eventId: newId(), payload: payloadJson(name, given), delaySeconds: 0 }
      write(
        tx,
        name,
        handlers.map(handler => ({ handler, ...shared }))
      )
    },
    enqueue: (tx, { name }, given, { subject = newId(), delaySeconds = 0 } = {}) =>
      write(tx, name, [
        { handler: name, subject, eventId: newId(), payload: payloadJson(name, given), delaySeconds }
      ]),
    start: dispatcher.start,
    stop: dispatcher.stop,
    console: createOutboxConsole(deps.db, dispatcher.wake)
  }
}

function insertBufferedJobs(tx: Transaction, rows: readonly PositionedJob[]): Promise<number> {
  const [first, second] = rows
  if (first !== undefined && second === undefined && first.delaySeconds === 0) {
    const { delaySeconds: _, position: __, ...row } = first
    return tx.run(insertJobDueNow, row)
  }
  return tx.run(insertJobs, {
    handlers: rows.map(({ handler }) => handler),
    subjects: rows.map(({ subject }) => subject),
    eventIds: rows.map(({ eventId }) => eventId),
    payloads: rows.map(({ payload }) => payload),
    delays: rows.map(({ delaySeconds }) => delaySeconds),
    positions: rows.map(({ position }) => position)
  })
}

/** @throws Error when the payload is too long: an event names what happened, and consumers read the rest. */
function payloadJson(name: string, payload: unknown): string {
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) > PAYLOAD_BYTES_MAX)
    throw new Error(`the payload of ${name} has more than ${PAYLOAD_BYTES_MAX} bytes`)
  return text
}
