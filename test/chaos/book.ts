import { setTimeout as delay } from 'node:timers/promises'
import type { Answer, HttpClient } from '../support/http-client.ts'
import type { Dice } from './dice.ts'
import type { Operation } from './operations.ts'

/** The response that a buyer received for a placed order. */
type Told = { orderId: string; number: string; total: number; isNew: boolean }
/** How many units, by the id of their variant. */
export type Units = Readonly<Record<string, number>>
/** A request to buy once. The order keeps its note, so that each can be traced to who asked for it. */
export type Attempt = {
  note: string
  /** The cart that several attempts are about: one of them becomes the order. */
  cart: string | undefined
  isKeyed: boolean
  /** How many units of which variant it is to have; `undefined` when that changes while it is ordered. */
  units: Units | undefined
  told: Told[]
  /** The last answer was that there will be no order. */
  isRefused: boolean
  /** The code of that answer. */
  code?: string
}
/** The operations of all clients, with their responses. */
export type Book = {
  attempts: Attempt[]
  /** What administrators did under a key, in the order in which each of them did it. */
  operations: Operation[]
  /** Ids of orders that were acknowledged as canceled, to a buyer or to an administrator. */
  canceled: Set<string>
  /** Answers that are wrong whatever happens around the shop. */
  wrong: Set<string>
  /** The provider's payments that it took by itself, and those of which a refund came back. */
  takenLate: Set<string>
  keptBack: Set<string>
  /** How often what was done. */
  counts: Map<string, number>
  stopping: boolean
}

export const openBook = (): Book => ({
  attempts: [],
  operations: [],
  canceled: new Set(),
  wrong: new Set(),
  takenLate: new Set(),
  keptBack: new Set(),
  counts: new Map(),
  stopping: false
})

export function count(book: Book, what: string): void {
  book.counts.set(what, (book.counts.get(what) ?? 0) + 1)
}

/** A client that sometimes hangs up before the response. */
export type Person = { book: Book; http: HttpClient; dice: Dice }
export type Request = { method: string; path: string; token?: string; headers?: object; body?: unknown }

const RETRY_PAUSE_MS = 50
/** Longer than any fault and its mend. */
const PATIENCE_MS = 60_000
const HANG_UP_SHARE = 0.05
const HANG_UP_MS_MAX = 60
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g
/** What a request that makes sense is never told. */
const NEVER = [400, 401, 403, 405, 413, 415, 422, 429]

/** Sends it once; notes an answer that nothing explains. */
export async function ask(
  person: Person,
  { method, path, token, headers, body }: Request,
  cutAfterMs?: number
) {
  const answer = await person.http.send(method, path, {
    ...(token !== undefined && { token }),
    headers: { ...headers },
    body,
    ...(cutAfterMs !== undefined && { cutAfterMs })
  })
  if (answer === undefined) return undefined
  const isWrong = NEVER.includes(answer.status) || (answer.status >= 500 && answer.status !== 503)
  if (isWrong) {
    const what = `${method} ${path.replace(UUID, ':id')} was answered ${answer.status} ${answer.json?.code}`
    person.book.wrong.add(`${what}: ${JSON.stringify(answer.json)?.slice(0, 300)}`)
  }
  return answer
}

type Patience = { hangsUp?: boolean; patienceMs?: number; onLost?: () => void }

/** Sends it under a key, to any process, until it is answered; `undefined` when it is not in time. `onLost`: a try had no answer. */
export async function sendUntilAnswered(
  person: Person,
  key: string,
  request: Request,
  { hangsUp = true, patienceMs = PATIENCE_MS, onLost }: Patience = {}
): Promise<Answer | undefined> {
  const headers = { ...request.headers, 'idempotency-key': key }
  const deadline = performance.now() + patienceMs
  while (performance.now() < deadline) {
    const isCut = hangsUp && person.dice.chance(HANG_UP_SHARE)
    const answer = await ask(
      person,
      { ...request, headers },
      isCut ? person.dice.below(HANG_UP_MS_MAX) : undefined
    )
    const isAnswered = answer !== undefined && answer.status < 500 && !mayBeAskedAgain(answer)
    if (isAnswered) return answer
    onLost?.()
    await delay(RETRY_PAUSE_MS)
  }
  return undefined
}

/** The same, where no answer is a fault. */
export async function insist(person: Person, key: string, request: Request): Promise<Answer | undefined> {
  const answer = await sendUntilAnswered(person, key, request)
  if (answer === undefined)
    person.book.wrong.add(`${request.method} ${request.path.replace(UUID, ':id')} was never answered`)
  return answer
}

const mayBeAskedAgain = ({ json }: Answer) => json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
