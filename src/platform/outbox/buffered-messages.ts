import type { Transaction } from '../postgres/database.ts'
import { insertJobDueNow, insertJobs, insertLoggedEvent, insertMessages } from './job-queries.ts'

/** An event or a job that a transaction writes with its commit. */
export type BufferedMessage = {
  readonly eventId: string
  readonly subject: string
  readonly payload: string
  readonly delaySeconds: number
  /** Each gets a job. */
  readonly handlers: readonly string[]
  /** For an event that the event log contains. */
  readonly logged?: { readonly name: string; readonly version: number }
}

/** Inserts the log's rows and the jobs of a transaction, in one statement. */
export function insertBufferedMessages(
  tx: Transaction,
  messages: readonly BufferedMessage[]
): Promise<number> {
  const jobs = messages.flatMap(({ handlers }, position) => handlers.map(handler => ({ handler, position })))
  const [first, second] = messages
  if (first?.logged !== undefined && second === undefined && jobs.length === 0) {
    const { eventId, subject, payload, logged } = first
    return tx.run(insertLoggedEvent, { eventId, subject, payload, ...logged })
  }
  if (messages.some(({ logged }) => logged !== undefined))
    return tx.run(insertMessages, {
      ...columnsOf(messages),
      names: messages.map(({ logged }) => logged?.name ?? ''),
      versions: messages.map(({ logged }) => logged?.version ?? 0),
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

const columnsOf = (messages: readonly BufferedMessage[]) => ({
  eventIds: messages.map(({ eventId }) => eventId),
  subjects: messages.map(({ subject }) => subject),
  payloads: messages.map(({ payload }) => payload),
  delays: messages.map(({ delaySeconds }) => delaySeconds)
})
