import type { EventSubject } from '../../kernel/events.ts'
import type { Transaction } from '../postgres/database.ts'
import type { RowOf } from '../postgres/statement.ts'
import { JOB_LEASE_SECONDS } from './claims.ts'
import type { HandoverLease } from './handover.ts'
import { type ClaimedJob, insertJobDueNow, insertJobs } from './job-queries.ts'
import { insertEventsAndJobs, insertUnsubscribedEvent } from './message-queries.ts'

type LoggedEventFields = {
  readonly name: string
  readonly payloadVersion: number
  readonly subjectVersion: EventSubject<true>['version']
}
/** An event or a job that a transaction writes with its commit. */
export type BufferedOutboxMessage = {
  readonly name: string
  readonly eventId: string
  readonly subject: string
  readonly payload: string
  readonly delaySeconds: number
  /** Each gets a job. */
  readonly handlers: readonly string[]
  /** For an event that the event log contains. */
  readonly logged?: LoggedEventFields
  /** The trace that causes it, if it is recorded. */
  readonly traceparent?: string | undefined
}

/** A transaction with more jobs than this leaves all of them to claims, which take them in batches of limited size. */
const HANDED_OVER_JOBS_MAX = 20

type NewJob = {
  handler: string
  message: BufferedOutboxMessage
  position: number
  lease: HandoverLease | undefined
}
/** A row that was inserted with a lease of this process. */
export type LeasedNewJob = { handler: string; lease: HandoverLease; row: ClaimedJob }

/**
 * Inserts the log's rows and the jobs of a transaction, in one statement. `leaseOf` returns the lease for a new job of a handler.
 * Returns the jobs that were inserted with one, to be handed over after the commit.
 */
export async function insertBufferedOutboxMessages(
  tx: Transaction,
  messages: readonly BufferedOutboxMessage[],
  leaseOf: (handler: string) => HandoverLease | undefined
): Promise<LeasedNewJob[]> {
  const jobs = jobsOf(messages, leaseOf)
  const [first, second] = messages
  if (first?.logged !== undefined && second === undefined && jobs.length === 0) {
    const { eventId, subject, payload, logged } = first
    await tx.run(insertUnsubscribedEvent, {
      event_id: eventId,
      subject,
      payload,
      name: logged.name,
      payload_version: logged.payloadVersion,
      subject_version: versionAtCommit(logged)
    })
    return []
  }
  return leasedAmong(jobs, await insertRows(tx, messages, jobs))
}

/** The jobs of messages. The first of a handler and subject may have a lease: later ones have to wait for it. */
function jobsOf(
  messages: readonly BufferedOutboxMessage[],
  leaseOf: (handler: string) => HandoverLease | undefined
): NewJob[] {
  const seen = new Set<string>()
  const isBulk = messages.reduce((sum, { handlers }) => sum + handlers.length, 0) > HANDED_OVER_JOBS_MAX
  return messages.flatMap((message, position) =>
    message.handlers.map(handler => {
      const key = `${handler} ${message.subject}`
      const isFirst = !seen.has(key)
      seen.add(key)
      return {
        handler,
        message,
        position,
        lease: isFirst && !isBulk && message.delaySeconds === 0 ? leaseOf(handler) : undefined
      }
    })
  )
}

type InsertedJob = RowOf<typeof insertJobs> & { log_id?: number | null }

function insertRows(
  tx: Transaction,
  messages: readonly BufferedOutboxMessage[],
  jobs: readonly NewJob[]
): Promise<InsertedJob[]> {
  const wantedLeases = jobs.map(({ lease }) => lease?.id ?? '')
  const handlers = jobs.map(({ handler }) => handler)
  const leaseSeconds = JOB_LEASE_SECONDS
  if (messages.some(({ logged }) => logged !== undefined))
    return tx.rows(insertEventsAndJobs, {
      ...columnsOf(messages),
      names: messages.map(({ logged }) => logged?.name ?? ''),
      payloadVersions: messages.map(({ logged }) => logged?.payloadVersion ?? 0),
      subjectVersions: messages.map(({ logged }) => (logged && versionAtCommit(logged)) ?? NO_VERSION),
      jobPositions: jobs.map(({ position }) => position),
      handlers,
      wantedLeases,
      leaseSeconds
    })
  const [only] = jobs
  if (only !== undefined && jobs.length === 1 && only.message.delaySeconds === 0) {
    const { eventId, subject, payload } = only.message
    const wantedLease = only.lease?.id ?? ''
    return tx.rows(insertJobDueNow, {
      handler: only.handler,
      eventId,
      subject,
      payload,
      wantedLease,
      leaseSeconds
    })
  }
  return tx.rows(insertJobs, {
    ...columnsOf(jobs.map(({ message }) => message)),
    positions: jobs.map(({ position }) => position),
    handlers,
    wantedLeases,
    leaseSeconds
  })
}

function leasedAmong(jobs: readonly NewJob[], inserted: readonly InsertedJob[]): LeasedNewJob[] {
  return jobs.flatMap(({ handler, message, lease }) => {
    if (lease === undefined) return []
    const row = inserted.find(each => each.handler === handler && each.event_id === message.eventId)
    if (row?.lease !== lease.id) return []
    const { id, event_id, since, log_id = null } = row
    const { subject, payload } = message
    const attempt = { attempts: 1, has_failed: false, was_abandoned: false, has_later: false }
    return [
      {
        handler,
        lease,
        row: { id, event_id, since, log_id, subject, payload: JSON.parse(payload), ...attempt }
      }
    ]
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
