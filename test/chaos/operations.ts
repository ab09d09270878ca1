import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import type { Answer } from '../support/http-client.ts'
import {
  type ChaosClient,
  countInReport,
  type Request,
  type RunRecord,
  sendOnce,
  sendUntilAnswered
} from './run-record.ts'

/** What administrators do, each under a key. A run fails when one of these was never acknowledged. */
export const OPERATION_KINDS = [
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
export type OperationKind = (typeof OPERATION_KINDS)[number]

/** The objects of an operation, as far as its kind needs them. */
export type OperationSubject = {
  orderId?: string
  paymentId?: string
  variantId?: string
  location?: string
  /** Minor units of money, or units of stock. */
  amount?: number
  /** For a voided shipment, the operation that created the shipment. */
  shipment?: Operation
}
/** An operation before it has a key. `note` is part of the request, so that each effect can be traced to its operation. */
export type OperationPlan = {
  kind: OperationKind
  about: OperationSubject
  request: (note: string) => Request
}
/** An operation that was requested, and its outcome. */
export type Operation = {
  kind: OperationKind
  note: string
  key: string
  request: Request
  about: OperationSubject
  state: 'unanswered' | 'acknowledged' | 'refused'
  /** The status and the body of the answer that decided its state. */
  status?: number
  answer?: Answer['json']
  /** A try had no response, so it may take effect after the next try was rejected. */
  isUncertain: boolean
}

const REPLAYS = 8
const HANG_UP_MS_MAX = 20
const RESOLVE_MS = 60_000

export const NOTE_PREFIX = 'chaos-'

/** Records an operation, and sends it with its key until it has a response. `copies`: number of simultaneous requests. */
export async function performOperation(
  client: ChaosClient,
  { kind, about, request }: OperationPlan,
  copies = 1
): Promise<Operation> {
  const note = NOTE_PREFIX + newId()
  const operation: Operation = {
    kind,
    note,
    key: newId(),
    request: request(note),
    about,
    state: 'unanswered',
    isUncertain: copies > 1
  }
  client.record.operations.push(operation)
  const onLost = () => {
    operation.isUncertain = true
  }
  const send = () => sendUntilAnswered(client, operation.key, operation.request, { onLost })
  const answers = await Promise.all(Array.from({ length: copies }, send))
  const answered = answers.flatMap(answer => answer ?? [])
  const answer = answered.find(({ status }) => status < 300) ?? answered[0]
  if (answer !== undefined) decide(operation, answer)
  if (kind === 'cancel' && operation.answer?.status === 'canceled')
    client.record.canceled.add(String(about.orderId))
  if (operation.state === 'refused')
    countInReport(client.record, `${kind} refused: ${operation.answer?.code}`)
  return operation
}

function decide(operation: Operation, { status, json }: Answer): void {
  operation.state = status < 300 ? 'acknowledged' : 'refused'
  operation.status = status
  operation.answer = json
}

/**
 * Repeats an acknowledged operation, and hangs up before or during the response. It must have no second effect, and a
 * complete response must equal the first one.
 */
export async function repeatHangingUp(client: ChaosClient, operation: Operation): Promise<void> {
  const { request, key, kind, status } = operation
  const keyed = { ...request, headers: { ...request.headers, 'idempotency-key': key } }
  for (let replay = 0; replay < REPLAYS; replay += 1) {
    const answer = await sendOnce(client, keyed, client.dice.below(HANG_UP_MS_MAX + 1))
    if (answer !== undefined && answer.status < 500 && answer.status !== status && !isRunning(answer))
      client.record.wrong.add(`${kind} was answered ${status}, and its repetition ${answer.status}`)
  }
}
const isRunning = ({ json }: Answer) => json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'

/** Repeats each operation without a known outcome under its key, until the outcome is known. */
export async function resolveOperations(client: ChaosClient): Promise<void> {
  const { operations, wrong } = client.record
  for (const operation of operations) {
    const { state, isUncertain, kind, key, request } = operation
    if (state === 'acknowledged' || (state === 'refused' && !isUncertain)) continue
    const answer = await sendUntilAnswered(client, key, request, { hangsUp: false, patienceMs: RESOLVE_MS })
    if (answer !== undefined) decide(operation, answer)
    else wrong.add(`${kind} ${operation.note} was never answered`)
    await delay(0)
  }
}

export type OperationTally = { tried: number; acknowledged: number; refused: number }

/** How often each kind was tried, acknowledged and refused. */
export function tallyOf({ operations }: Pick<RunRecord, 'operations'>): Map<OperationKind, OperationTally> {
  const of = (kind: OperationKind, state?: Operation['state']) =>
    operations.filter(each => each.kind === kind && (state === undefined || each.state === state)).length
  return new Map(
    OPERATION_KINDS.map(kind => [
      kind,
      { tried: of(kind), acknowledged: of(kind, 'acknowledged'), refused: of(kind, 'refused') }
    ])
  )
}

/** The kinds of operations that never succeeded. */
export const missingKinds = (record: Pick<RunRecord, 'operations'>): OperationKind[] =>
  [...tallyOf(record)].filter(([, { acknowledged }]) => acknowledged === 0).map(([kind]) => kind)
