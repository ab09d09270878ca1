import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import type { Answer } from '../support/http-client.ts'
import { ask, type Book, count, type Person, type Request, sendUntilAnswered } from './book.ts'

/** What administrators do, each under a key. A run fails when one of these was never acknowledged. */
export const KINDS = [
  'ship',
  'void shipment',
  'return',
  'return without restock',
  'refund lines',
  'refund amount',
  'refund payment',
  'cancel lines',
  'cancel',
  'capture',
  'void payment',
  'adjust stock',
  'count stock',
  'add note'
] as const
export type Kind = (typeof KINDS)[number]

/** What an operation is about, as far as its kind needs it. */
export type Subject = {
  orderId?: string
  paymentId?: string
  variantId?: string
  location?: string
  /** Minor units of money, or units of stock. */
  amount?: number
  /** Of a voided shipment: the operation that shipped it. */
  shipment?: Operation
}
/** An operation before it has a key. `note` stands in the request, so that each effect can be traced to its operation. */
export type Plan = { kind: Kind; about: Subject; request: (note: string) => Request }
/** An operation that was requested, and its outcome. */
export type Operation = {
  kind: Kind
  note: string
  key: string
  request: Request
  about: Subject
  state: 'unanswered' | 'acknowledged' | 'refused'
  /** The status and the body of the answer that decided its state. */
  status?: number
  answer?: Answer['json']
  /** A try had no answer, so its effect may come after a refusal of the next try. */
  isUncertain: boolean
}

const REPLAYS = 8
const HANG_UP_MS_MAX = 20
const RESOLVE_MS = 60_000

export const NOTE_PREFIX = 'chaos-'

/** Records an operation, and sends it with its key until it is answered; with `copies`, several times at the same moment. */
export async function perform(
  person: Person,
  { kind, about, request }: Plan,
  copies = 1
): Promise<Operation> {
  const note = NOTE_PREFIX + newId()
  const operation: Operation = {
    ...{ kind, note, key: newId(), request: request(note), about },
    ...{ state: 'unanswered', isUncertain: copies > 1 }
  }
  person.book.operations.push(operation)
  const onLost = () => {
    operation.isUncertain = true
  }
  const send = () => sendUntilAnswered(person, operation.key, operation.request, { onLost })
  const answers = await Promise.all(Array.from({ length: copies }, send))
  const answered = answers.flatMap(answer => answer ?? [])
  const answer = answered.find(({ status }) => status < 300) ?? answered[0]
  if (answer !== undefined) decide(operation, answer)
  if (kind === 'cancel' && operation.answer?.status === 'canceled')
    person.book.canceled.add(String(about.orderId))
  if (operation.state === 'refused') count(person.book, `${kind} refused: ${operation.answer?.code}`)
  return operation
}

function decide(operation: Operation, { status, json }: Answer): void {
  operation.state = status < 300 ? 'acknowledged' : 'refused'
  operation.status = status
  operation.answer = json
}

/**
 * Repeats an acknowledged operation, and hangs up before or while it is answered: nothing may happen again. An answer that
 * arrives in time has to be the first one.
 */
export async function repeatHangingUp(person: Person, operation: Operation): Promise<void> {
  const { request, key, kind, status } = operation
  const keyed = { ...request, headers: { ...request.headers, 'idempotency-key': key } }
  for (let replay = 0; replay < REPLAYS; replay += 1) {
    const answer = await ask(person, keyed, person.dice.below(HANG_UP_MS_MAX + 1))
    if (answer !== undefined && answer.status < 500 && answer.status !== status && !isRunning(answer))
      person.book.wrong.add(`${kind} was answered ${status}, and its repetition ${answer.status}`)
  }
}
const isRunning = ({ json }: Answer) => json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'

/** Repeats whatever may have happened unseen, under its key, so that each operation has a known outcome. */
export async function resolveOperations(person: Person): Promise<void> {
  const { operations, wrong } = person.book
  for (const operation of operations) {
    const { state, isUncertain, kind, key, request } = operation
    if (state === 'acknowledged' || (state === 'refused' && !isUncertain)) continue
    const answer = await sendUntilAnswered(person, key, request, { hangsUp: false, patienceMs: RESOLVE_MS })
    if (answer !== undefined) decide(operation, answer)
    else wrong.add(`${kind} ${operation.note} was never answered`)
    await delay(0)
  }
}

export type Tally = { tried: number; acknowledged: number; refused: number }

/** How often each kind was tried, acknowledged and refused. */
export function tallyOf({ operations }: Pick<Book, 'operations'>): Map<Kind, Tally> {
  const of = (kind: Kind, state?: Operation['state']) =>
    operations.filter(each => each.kind === kind && (state === undefined || each.state === state)).length
  return new Map(
    KINDS.map(kind => [
      kind,
      { tried: of(kind), acknowledged: of(kind, 'acknowledged'), refused: of(kind, 'refused') }
    ])
  )
}

/** The kinds of operations that never succeeded. */
export const missingKinds = (book: Pick<Book, 'operations'>): Kind[] =>
  [...tallyOf(book)].filter(([, { acknowledged }]) => acknowledged === 0).map(([kind]) => kind)
