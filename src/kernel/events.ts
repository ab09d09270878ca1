import { type Static, type TObject, type TSchema, Type } from './schema.ts'

type Properties = Record<string, TSchema>
type Name = `${string}.${string}`
/** Which events of a subject webhooks send: all, at least the latest, or none. */
type WebhookDelivery = 'all' | 'latest' | 'none'

/**
 * The type of an event, named in the past tense: `order.placed`. Subscribers receive its payload. `V`: whether it carries the
 * version of its subject.
 * @example
 * const isOfPayments = ({ name }: EventType) => name.startsWith('payments.')
 */
export type EventType<N extends string = string, P extends TSchema = TSchema, V extends boolean = boolean> = {
  readonly name: N
  /** When the event happens, as a sentence for the documentation. */
  readonly description: string
  /** The kind of object that the event is about. A subscriber handles the events of one object one at a time, in order. */
  readonly subject: string
  /** Which of these events webhooks send. Default: `none`. A payload that is sent holds no secret. */
  readonly webhook?: WebhookDelivery
  /** Fields of the payload with personal data. Erasing the customer sets them to null in the event log. Avoid them: name ids. */
  readonly personalFields?: readonly string[]
  /** Version of the payload's format, from 1. Raise it when a field changes its meaning. Default: 1. */
  readonly payloadVersion?: number
  /** Whether `emit` gets the version of the subject. */
  readonly isVersioned: V
  /** Why an event that webhooks may send carries no version of its subject. */
  readonly unversioned?: string
  readonly payload: P
}

/**
 * The subject of an event. `version` is that of its row after the change, or null when the change deleted it. A function is
 * called with the commit, so an event can be emitted before the last change of the transaction.
 */
export type EventSubject<V extends boolean = boolean> = V extends true
  ? { readonly id: string; readonly version: number | null | (() => number | null) }
  : string

/**
 * The type of a job: work that runs later or on a schedule.
 * @example
 * const isScheduled = ({ intervalSeconds }: JobType) => intervalSeconds !== undefined
 */
export type JobType<N extends string = string, P extends TSchema = TSchema> = {
  readonly name: N
  readonly description: string
  readonly payload: P
  /** Deadline of one run. */
  readonly timeoutSeconds: number
  /** Interval of the job's schedule. Without it, the job runs when it is enqueued. */
  readonly intervalSeconds?: number
  /** Whether the job waits for an external service. A slow response then delays only other jobs of this type. */
  readonly callsExternalService?: boolean
  /**
   * Maximum simultaneous runs of the job in one process, independent of other jobs. Default: 1. Runs of one subject never
   * overlap.
   */
  readonly concurrency?: number
}

/**
 * One event or job, as its handler receives it.
 * @example
 * const writeOfReminder = (job: JobDelivery<{ wish_id: string }>) => writeOfJob(job, 'reminder')
 */
export type JobDelivery<P = unknown> = {
  /** Id of the delivery, the same in every attempt. Serves as the idempotency key of calls to external services. */
  readonly id: string
  readonly subject: string
  readonly payload: P
  /** When the event happened, or the time for which the job was planned. */
  readonly since: Date
  /** Id of the event in the event log. Null for jobs, and for events that the log does not contain. */
  readonly logId: number | null
}

const events = new Map<string, EventType>()
const jobs = new Map<string, JobType>()

type EventDeclaration<F> = Pick<
  EventType,
  'description' | 'subject' | 'webhook' | 'payloadVersion' | 'unversioned'
> & { readonly personalFields?: readonly (keyof F & string)[] }
/** An event that webhooks may send carries the version of its subject, unless it declares why not. */
type IsVersioned<D> = D extends { readonly webhook: 'all' | 'latest' }
  ? D extends { readonly unversioned: string }
    ? false
    : true
  : false

/**
 * Declares an event, named after the module that emits it. Its payload is JSON, so times are strings.
 * @throws when the name is declared already.
 * @example
 * const wishMadeEvent = defineEvent(
 *   'wishlist.wish_made',
 *   { description: 'A customer wished for something.', subject: 'the customer' },
 *   { customer_id: wire.Id, variant_id: wire.Id }
 * )
 * assert.equal(wishMadeEvent.name, 'wishlist.wish_made')
 */
export const defineEvent = <const N extends Name, F extends Properties, const D extends EventDeclaration<F>>(
  name: N,
  about: D,
  fields: F
): EventType<N, TObject<F>, IsVersioned<D>> =>
  declare(events, {
    name,
    ...about,
    isVersioned: (isWebhookEvent(about) && about.unversioned === undefined) as IsVersioned<D>,
    payload: Type.Object(fields)
  })

/**
 * Declares a job, named after the module that runs it. @throws when the name is declared already.
 * @example
 * const tidyWishesJob = defineJob(
 *   'wishlist.tidy',
 *   { description: 'Deletes wishes of variants that are not sold.', timeoutSeconds: 30, intervalSeconds: 3_600 },
 *   {}
 * )
 * assert.equal(tidyWishesJob.timeoutSeconds, 30)
 */
export const defineJob = <const N extends Name, F extends Properties>(
  name: N,
  about: Pick<
    JobType,
    'description' | 'timeoutSeconds' | 'intervalSeconds' | 'callsExternalService' | 'concurrency'
  >,
  fields: F
): JobType<N, TObject<F>> => declare(jobs, { name, ...about, payload: Type.Object(fields) })

/** Whether webhooks may send this event, and the event log contains it. */
export const isWebhookEvent = ({ webhook = 'none' }: Pick<EventType, 'webhook'>): boolean =>
  webhook !== 'none'

/** Returns the events of all modules loaded so far. */
export const listDeclaredEvents = (): readonly EventType[] => [...events.values()]

/**
 * The type of the payload of an event or a job.
 * @example
 * const orderOf = ({ order_id }: PayloadOf<typeof orderPlacedEvent>): string => order_id
 */
export type PayloadOf<T extends { payload: TSchema }> = Static<T['payload']>

function declare<T extends { name: string }>(all: Map<string, { name: string }>, declared: T): T {
  if (all.has(declared.name)) throw new Error(`${declared.name} is declared twice`)
  all.set(declared.name, declared)
  return declared
}
