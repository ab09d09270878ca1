import { type Static, type TObject, type TSchema, Type } from './schema.ts'

type Properties = Record<string, TSchema>
type Name = `${string}.${string}`
/** Whether those outside of the shop are told: each of them, of each subject the latest at least, or never. */
type Outside = 'each' | 'latest' | 'never'

/** Something that happened, in the past tense: `order.placed`. Its payload is what those are told who hear of it. */
export type EventType<N extends string = string, P extends TSchema = TSchema> = {
  readonly name: N
  /** When it happens, in a sentence. */
  readonly description: string
  /** What it is about. Of one subject, whoever hears of it is told one event after another, in their order. */
  readonly subject: string
  /** Whether webhooks tell it; never when left out. What they tell may hold no personal data, and no secret. */
  readonly outside?: Outside
  readonly payload: P
}

/** Something that is to be done later, or again and again. */
export type JobType<N extends string = string, P extends TSchema = TSchema> = {
  readonly name: N
  readonly description: string
  readonly payload: P
  /** How long it may take. */
  readonly seconds: number
  /** How often it is done; when left out, it is done when it is asked for. */
  readonly everySeconds?: number
  /** Whether it waits for somebody outside, who may answer late: then that holds up only others that do. */
  readonly asksOthers?: boolean
  /** How many of it one process does at once, beside all others; one when left out. Of one subject it is one at a time. */
  readonly atOnce?: number
}

/** One event, or one job, as whoever handles it gets it. */
export type Delivery<P = unknown> = {
  /** The same in every try: the key for whatever outside must not happen twice. */
  readonly id: string
  readonly subject: string
  readonly payload: P
  /** Since when it waits: when it happened, or the time that it was planned for. */
  readonly since: Date
}

const events = new Map<string, EventType>()
const jobs = new Map<string, JobType>()

/**
 * Declares an event, called after the module that emits it. Its payload is JSON: a time is text.
 * @throws when two have the same name: then the program does not load.
 */
export const defineEvent = <const N extends Name, F extends Properties>(
  name: N,
  about: Pick<EventType, 'description' | 'subject' | 'outside'>,
  fields: F
): EventType<N, TObject<F>> => declare(events, { name, ...about, payload: Type.Object(fields) })

/** Declares a job, called after the module that does it. @throws when two have the same name. */
export const defineJob = <const N extends Name, F extends Properties>(
  name: N,
  about: Pick<JobType, 'description' | 'seconds' | 'everySeconds' | 'asksOthers' | 'atOnce'>,
  fields: F
): JobType<N, TObject<F>> => declare(jobs, { name, ...about, payload: Type.Object(fields) })

/** Every event of the modules loaded so far. */
export const declaredEvents = (): readonly EventType[] => [...events.values()]

export type PayloadOf<T extends { payload: TSchema }> = Static<T['payload']>

function declare<T extends { name: string }>(all: Map<string, { name: string }>, declared: T): T {
  if (all.has(declared.name)) throw new Error(`${declared.name} is declared twice`)
  all.set(declared.name, declared)
  return declared
}
