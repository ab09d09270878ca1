import type { EventSubject } from '../../kernel/events.ts'
import type { Transaction } from '../postgres/database.ts'
import { insertJobDueNow, insertJobs } from './job-queries.ts'
import { insertEventsAndJobs, insertUnsubscribedEvent } from './message-queries.ts'

type LoggedEventFields = {
  readonly name: string
  readonly payloadVersion: number
  readonly subjectVersion: EventSubject<true>['version']
}
/** An event or a job that a transaction writes with its commit. */
export type BufferedOutboxMessage = {
  readonly eventId: string
  readonly subject: string
  readonly payload: string
  readonly delaySeconds: number
  /** Each gets a job. */
  readonly handlers: readonly string[]
  /** For an event that the event log contains. */
  readonly logged?: LoggedEventFields
}

/** Inserts the log's rows and the jobs of a transaction, in one statement. */
export function insertBufferedOutboxMessages(
  tx: Transaction,
  messages: readonly BufferedOutboxMessage[]
): Promise<number> {
  const jobs = messages.flatMap(({ handlers }, position) => handlers.map(handler => ({ handler, position })))
  const [first, second] = messages
  if (first?.logged !== undefined && second === undefined && jobs.length === 0) {
    const { eventId, subject, payload, logged } = first
    const subjectVersion = versionAtCommit(logged)
    return tx.run(insertUnsubscribedEvent, { eventId, subject, payload, ...logged, subjectVersion })
  }
  if (messages.some(({ logged }) => logged !== undefined))
    return tx.run(insertEventsAndJobs, {
      ...columnsOf(messages),
      names: messages.map(({ logged }) => logged?.name ?? ''),
      payloadVersions: messages.map(({ logged }) => logged?.payloadVersion ?? 0),
      subjectVersions: messages.map(({ logged }) => (logged && versionAtCommit(logged)) ?? NO_VERSION),
      handlers: jobs.map(({ handler }) => handler),
      jobPositions: jobs.map(({ position }) => position)
    })
  const [only] = jobs
  if (first !== undefined && only !== undefined && jobs.length === 1 && first.delaySeconds === 0) {
    const { eventId, subject, payload } = first
    return tx.run(insertJobDueNow, { handler: only.handler, eventId, subject, payload })
  }
  return tx.run(insertJobs, {
    ...columnsOf(jobs.flatMap(({ position }) => messages[position] ?? [])),
    handlers: jobs.map(({ handler }) => handler),
    positions: jobs.map(({ position }) => position)
  })
}

/** Stands for null in arrays of versions. */
const NO_VERSION = -1
const versionAtCommit = ({ subjectVersion }: LoggedEventFields): number | null =>
  typeof subjectVersion === 'function' ? subjectVersion() : subjectVersion

const columnsOf = (messages: readonly BufferedOutboxMessage[]) => ({
  eventIds: messages.map(({ eventId }) => eventId),
  subjects: messages.map(({ subject }) => subject),
  payloads: messages.map(({ payload }) => payload),
  delays: messages.map(({ delaySeconds }) => delaySeconds)
})
