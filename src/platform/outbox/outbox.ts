import { type EventSubject, type EventType, isWebhookEvent, type JobType } from '../../kernel/events.ts'
import { newId } from '../../kernel/ids.ts'
import type { Static, TSchema } from '../../kernel/schema.ts'
import type { RunningEventLog } from '../event-log/event-log.ts'
import type { Transaction } from '../postgres/database.ts'
import { createTransactionValue } from '../postgres/transaction-value.ts'
import {
  type BufferedOutboxMessage,
  insertBufferedOutboxMessages,
  type LeasedNewJob
} from './buffered-messages.ts'
import { createOutboxConsole, type OutboxConsole } from './console.ts'
import { createOutboxDispatcher, type OutboxDispatcherDependencies } from './dispatcher.ts'
import type { EventOrJobHandler } from './handlers.ts'

/**
 * Writes an event with this transaction's commit: for each module that subscribes to it, and in the event log if webhooks
 * may send it. Its subject is an id, with a version if the event is declared with one.
 * @throws Error for an event that the module does not declare, for a subject without its version, and for a payload of more than 64 KiB.
 * @example
 * const announce = (tx: Transaction, emit: Emit) =>
 *   emit(tx, cartMergedEvent, customerId, { customer_id: customerId, strategy: 'sum', moved: 1 })
 */
export type Emit = <P extends TSchema, V extends boolean>(
  tx: Transaction,
  type: EventType<string, P, V>,
  subject: EventSubject<V>,
  payload: Static<P>
) => void
/**
 * Writes a job with this transaction's commit. Jobs of one `subject` run one after another in their order; a job without
 * subject waits for no other.
 * @throws Error for a job that the module does not declare, and for a payload of more than 64 KiB.
 * @example
 * const later = (tx: Transaction, enqueue: Enqueue, reminder: JobType) =>
 *   enqueue(tx, reminder, {}, { subject: customerId, delaySeconds: 3_600 })
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

type EmittedMessage = BufferedOutboxMessage & {
  /** The payload of an event, for `isWanted`. */
  readonly emitted?: unknown
}
/** Stores which trace causes an event or a job. */
type MessageTraces = {
  /** The `traceparent` of the running code, for an event or job about this subject, if its trace is recorded. */
  current(subject: string): string | undefined
  store(tx: Transaction, messages: readonly BufferedOutboxMessage[]): Promise<void>
}
type MessageBuffer = { messages: EmittedMessage[]; isSent: boolean }
export type OutboxDependencies = OutboxDispatcherDependencies & {
  eventLog: Pick<RunningEventLog, 'wake' | 'start' | 'stop'>
  traces?: MessageTraces | undefined
}

export function createOutbox({ eventLog, traces, ...deps }: OutboxDependencies): Outbox {
  const dispatcher = createOutboxDispatcher(deps)
  let handlersByEvent: ReadonlyMap<string, readonly string[]> = new Map()
  const isWanted = new Map<string, (payload: unknown, together: ReadonlySet<string>) => boolean>()

  /** Returns the buffer of this transaction; on first use, schedules its insert with the commit. */
  const bufferOf = createTransactionValue((tx): MessageBuffer => {
    const buffer: MessageBuffer = { messages: [], isSent: false }
    let leased: readonly LeasedNewJob[] = []
    tx.withCommit(async each => {
      buffer.isSent = true
      buffer.messages = buffer.messages.flatMap(message => wantedMessage(message, buffer.messages))
      if (buffer.messages.length === 0) return
      const inserted = insertBufferedOutboxMessages(each, buffer.messages, dispatcher.leaseForNewJob)
      if (traces !== undefined) await Promise.all([inserted, traces.store(each, buffer.messages)])
      leased = await inserted
    })
    tx.afterCommit(() => {
      for (const { handler, lease, row } of leased) dispatcher.handOver(handler, lease, row)
      for (const name of handlersToWake(buffer.messages, leased)) dispatcher.wake(name)
      if (buffer.messages.some(({ logged }) => logged !== undefined)) eventLog.wake()
    })
    return buffer
  })

  function write(tx: Transaction, message: EmittedMessage): void {
    const buffer = bufferOf(tx)
    if (buffer.isSent) throw new Error(`${message.name} came after the jobs of its transaction had been sent`)
    buffer.messages.push(
      traces === undefined ? message : { ...message, traceparent: traces.current(message.subject) }
    )
  }

  /** Without the handlers that do not want it; nothing when none is left and the log does not contain it. */
  function wantedMessage(message: EmittedMessage, all: readonly EmittedMessage[]): EmittedMessage[] {
    if (!('emitted' in message) || !message.handlers.some(handler => isWanted.has(handler))) return [message]
    const sameSubject = all.filter(({ subject }) => subject === message.subject)
    const together = new Set(sameSubject.map(({ name }) => name))
    const handlers = message.handlers.filter(
      handler => isWanted.get(handler)?.(message.emitted, together) !== false
    )
    return handlers.length === 0 && message.logged === undefined ? [] : [{ ...message, handlers }]
  }

  return {
    setSubscriptions: handlerNamesByEvent => {
      handlersByEvent = handlerNamesByEvent
    },
    attachHandler: (name, handler) => {
      if ('handleEvents' in handler && handler.isWanted !== undefined) isWanted.set(name, handler.isWanted)
      dispatcher.attach(name, handler)
    },
    emit: (tx, type, about: EventSubject, given) => {
      const { name, payloadVersion = 1 } = type
      const { id: subject, version: subjectVersion } = subjectOf(type, about)
      const handlers = handlersByEvent.get(name) ?? []
      const isLogged = isWebhookEvent(type)
      if (handlers.length === 0 && !isLogged) return
      const message = {
        name,
        eventId: newId(),
        subject,
        payload: payloadJson(name, given),
        emitted: given,
        delaySeconds: 0,
        handlers
      }
      write(tx, isLogged ? { ...message, logged: { name, payloadVersion, subjectVersion } } : message)
    },
    enqueue: (tx, { name }, given, { subject = newId(), delaySeconds = 0 } = {}) =>
      write(tx, {
        name,
        eventId: newId(),
        subject,
        payload: payloadJson(name, given),
        delaySeconds,
        handlers: [name]
      }),
    start: () => {
      dispatcher.start()
      eventLog.start()
    },
    stop: async () => {
      await Promise.all([dispatcher.stop(), eventLog.stop()])
    },
    console: createOutboxConsole(deps.db, dispatcher.wake)
  }
}

/** The handlers with a new job that was not handed over to them. */
function handlersToWake(
  messages: readonly BufferedOutboxMessage[],
  leased: readonly LeasedNewJob[]
): Set<string> {
  const isHandedOver = (handler: string, eventId: string) =>
    leased.some(job => job.handler === handler && job.row.event_id === eventId)
  return new Set(
    messages.flatMap(({ eventId, handlers }) => handlers.filter(handler => !isHandedOver(handler, eventId)))
  )
}

/** @throws Error when the subject has no version though the event declares one, or the reverse. */
function subjectOf({ name, isVersioned }: EventType, subject: EventSubject): EventSubject<true> {
  if (isVersioned !== (typeof subject !== 'string'))
    throw new Error(`${name} is ${isVersioned ? '' : 'not '}declared with the version of its subject`)
  return typeof subject === 'string' ? { id: subject, version: null } : subject
}

/** @throws Error when the payload is too long: an event names what happened, and consumers read the rest. */
function payloadJson(name: string, payload: unknown): string {
  const text = JSON.stringify(payload)
  if (Buffer.byteLength(text) > PAYLOAD_BYTES_MAX)
    throw new Error(`the payload of ${name} has more than ${PAYLOAD_BYTES_MAX} bytes`)
  return text
}
