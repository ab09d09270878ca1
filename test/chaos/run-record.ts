import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, HttpClient } from '../support/http-client.ts'
import type { Dice } from './dice.ts'
import type { Operation } from './operations.ts'

/** The response that a buyer received for a placed order. */
type OrderResponse = { orderId: string; number: string; total: number; isNew: boolean }
/** Number of units by variant id. */
export type Units = Readonly<Record<string, number>>
/** One request to buy. Its order stores the note, so that each order can be traced to its request. */
export type Attempt = {
  note: string
  /** Cart that several attempts order simultaneously. One of them creates the order. */
  cart: string | undefined
  isKeyed: boolean
  /** Units that the order must have. Undefined when they change while the order is created. */
  units: Units | undefined
  responses: OrderResponse[]
  /** Whether the last response rejected the order. */
  isRefused: boolean
  /** Error code of that response. */
  code?: string
}
/** The operations of all clients, with their responses. */
export type RunRecord = {
  attempts: Attempt[]
  /** Keyed operations of administrators, in the order in which each of them sent them. */
  operations: Operation[]
  /** Ids of orders that were acknowledged as canceled, to a buyer or to an administrator. */
  canceled: Set<string>
  /** Responses that no fault justifies. */
  wrong: Set<string>
  /** Ids of payments that the provider captured without a request, and of payments with a refund that failed later. */
  takenLate: Set<string>
  keptBack: Set<string>
  /** Counters by name, for the report. */
  counts: Map<string, number>
  stopping: boolean
}

export const createRunRecord = (): RunRecord => ({
  attempts: [],
  operations: [],
  canceled: new Set(),
  wrong: new Set(),
  takenLate: new Set(),
  keptBack: new Set(),
  counts: new Map(),
  stopping: false
})

export function countInReport(record: RunRecord, what: string): void {
  record.counts.set(what, (record.counts.get(what) ?? 0) + 1)
}

/** A client that sometimes hangs up before the response. */
export type ChaosClient = { record: RunRecord; http: HttpClient; dice: Dice }
export type Request = { method: string; path: string; token?: string; headers?: object; body?: unknown }

const RETRY_PAUSE_MS = 50
/** Longer than any fault and its recovery. */
const PATIENCE_MS = 60_000
const HANG_UP_SHARE = 0.05
const HANG_UP_MS_MAX = 60
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g
/** Statuses that a valid request never gets. */
const UNJUSTIFIED_STATUSES = [400, 401, 403, 405, 413, 415, 422, 429]

/** Sends a request once, and records a response that no fault justifies. */
export async function sendOnce(
  client: ChaosClient,
  { method, path, token, headers, body }: Request,
  cutAfterMs?: number
) {
  const answer = await client.http.send(method, path, {
    ...(token !== undefined && { token }),
    headers: { ...headers },
    body,
    ...(cutAfterMs !== undefined && { cutAfterMs })
  })
  if (answer === undefined) return undefined
  const isWrong =
    UNJUSTIFIED_STATUSES.includes(answer.status) || (answer.status >= 500 && answer.status !== 503)
  if (isWrong) {
    const what = `${method} ${path.replace(UUID, ':id')} was answered ${answer.status} ${answer.json?.code}`
    client.record.wrong.add(`${what}: ${JSON.stringify(answer.json)?.slice(0, 300)}`)
  }
  return answer
}

type Patience = { hangsUp?: boolean; patienceMs?: number; onLost?: () => void }

/** Repeats a keyed request, to any process, until it has a response. Undefined after the patience. `onLost`: a try had no response. */
export async function sendUntilAnswered(
  client: ChaosClient,
  key: string,
  request: Request,
  { hangsUp = true, patienceMs = PATIENCE_MS, onLost }: Patience = {}
): Promise<Answer | undefined> {
  const headers = { ...request.headers, 'idempotency-key': key }
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    const isCut = hangsUp && client.dice.chance(HANG_UP_SHARE)
    const answer = await sendOnce(
      client,
      { ...request, headers },
      isCut ? client.dice.below(HANG_UP_MS_MAX) : undefined
    )
    const isAnswered = answer !== undefined && answer.status < 500 && !mayBeAskedAgain(answer)
    if (isAnswered) return answer
    onLost?.()
    await delay(RETRY_PAUSE_MS)
  }
  return undefined
}

/** Like `sendUntilAnswered`, and records a request without a response as broken. */
export async function sendUntilAcknowledged(
  client: ChaosClient,
  key: string,
  request: Request
): Promise<Answer | undefined> {
  const answer = await sendUntilAnswered(client, key, request)
  if (answer === undefined)
    client.record.wrong.add(`${request.method} ${request.path.replace(UUID, ':id')} was never answered`)
  return answer
}

const mayBeAskedAgain = ({ json }: Answer) => json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
