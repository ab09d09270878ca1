import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import type { Answer, HttpClient } from '../support/http-client.ts'

const RETRY_PAUSE_MS = 25
const HANG_UP_MS_MAX = 50
const RECOVERY_MS_MAX = 60_000

/** The quantity that was sent, and the quantity that was acknowledged. */
type UnitCount = { sent: number; acknowledged: number }
/** A write with its idempotency key, which a retry repeats. */
type KeyedWrite = { method: string; path: string; token?: string; key: string; body?: unknown }

/** One write with its key, from its first attempt to its response; `endedAt` is infinite when the client gives up. */
export type Operation = { route: string; startedAt: number; endedAt: number; attempts: number }

/** The writes of all clients to one cart, and their outcomes. */
export type Load = {
  http: HttpClient
  /** An access token, and two variants: one written with keys only, one without. */
  shared: { token: string; keyed: string; unkeyed: string }
  keyed: UnitCount
  unkeyed: UnitCount
  acknowledged: number
  /** Attempts without a response, with 503, or with 409 because an earlier attempt still ran. */
  retried: number
  operations: Operation[]
  /** Responses that no outage explains. */
  unexpectedResponses: string[]
  /** Every acknowledged write that had a key. */
  acknowledgedWrites: KeyedWrite[]
  /** Pause of each client between two writes. */
  pauseMs: number
  /** Percentage of attempts at which a client hangs up before the response, and tries again. */
  hangUpPercent: number
  isStopping: boolean
}
/** The only writer of its cart, so that it can compare the stored quantity with `ownQuantity`. */
export type Client = { token: string; variantId: string; ownQuantity: number }

/** Retries a write until it has a response. @throws when no outage explains the error. */
export async function writeUntilAcknowledged(
  load: Load,
  { method, path, token, key, body }: KeyedWrite
): Promise<Answer> {
  const options = { headers: { 'idempotency-key': key }, ...(token && { token }), body }
  const what = `${method} ${path}`
  const startedAt = performance.now()
  for (let tries = 1; ; tries += 1) {
    const hangsUp = randomInt(100) < load.hangUpPercent
    const hangUp = hangsUp && { cutAfterMs: randomInt(HANG_UP_MS_MAX) }
    const answer = await load.http.send(method, path, { ...options, ...hangUp })
    const endedAt = performance.now()
    if (answer !== undefined && answer.status < 300) {
      load.operations.push({ route: what, startedAt, endedAt, attempts: tries })
      return answer
    }
    load.retried += 1
    const answered = `${what} was answered ${answer?.status} ${JSON.stringify(answer?.json)}`
    if (answer !== undefined && answer.status >= 500 && answer.status !== 503)
      load.unexpectedResponses.push(answered)
    const mayRepeat =
      answer === undefined || answer.status >= 500 || answer.json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
    if (!mayRepeat || endedAt - startedAt > RECOVERY_MS_MAX) {
      load.operations.push({ route: what, startedAt, endedAt: Number.POSITIVE_INFINITY, attempts: tries })
      throw new Error(answered)
    }
    await delay(RETRY_PAUSE_MS)
  }
}

/** Writes until it is stopped, and checks its own cart after every write. */
export async function runClient(load: Load, client: Client): Promise<void> {
  const operations = operationsOf(load, client)
  while (!load.isStopping) {
    await operations[randomInt(operations.length)]?.()
    const answer = await load.http.send('GET', '/api/cart/count', { token: client.token })
    if (answer?.status === 200) expectOwnQuantity(client, answer)
    if (load.pauseMs > 0) await delay(load.pauseMs)
  }
}

export function expectOwnQuantity({ ownQuantity: own }: Client, { json }: Answer): void {
  if (json.count !== own) throw new Error(`a client wrote ${own} and reads ${json.count}`)
}

function operationsOf(load: Load, client: Client): (() => Promise<void>)[] {
  const { shared, keyed, unkeyed } = load
  const { token, variantId } = client
  const item = `/api/cart/items/${variantId}`

  const write = async (unkeyedWrite: Omit<KeyedWrite, 'key'>) => {
    const keyedWrite = { ...unkeyedWrite, key: newId() }
    const answer = await writeUntilAcknowledged(load, keyedWrite)
    load.acknowledged += 1
    load.acknowledgedWrites.push(keyedWrite)
    return answer
  }
  const post = (path: string, body: unknown, as?: string) =>
    write({ method: 'POST', path, body, ...(as && { token: as }) })

  const addShared = async () => {
    keyed.sent += 2
    await post('/api/cart', { variant_id: shared.keyed, quantity: 2 }, shared.token)
    keyed.acknowledged += 2
  }
  const mergeShared = async () => {
    keyed.sent += 3
    const guest = await post('/api/guest-cart', { variant_id: shared.keyed, quantity: 3 })
    await post('/api/cart/merge', { guest_cart_token: guest.json.guest_cart_token }, shared.token)
    keyed.acknowledged += 3
  }
  const addUnkeyed = async () => {
    unkeyed.sent += 1
    const body = { variant_id: shared.unkeyed, quantity: 1 }
    const answer = await load.http.send('POST', '/api/cart', { token: shared.token, body })
    if (answer?.status !== 200) return
    unkeyed.acknowledged += 1
    load.acknowledged += 1
  }
  const addOwn = async (quantity = 1) => {
    await post('/api/cart', { variant_id: variantId, quantity }, token)
    client.ownQuantity += quantity
  }
  const setOwn = async () => {
    const quantity = randomInt(1, 1_000)
    if (client.ownQuantity === 0) return addOwn(quantity)
    await write({ method: 'PUT', path: item, token, body: { quantity } })
    client.ownQuantity = quantity
  }
  const remove = (path: string) => async () => {
    await write({ method: 'DELETE', path, token })
    client.ownQuantity = 0
  }
  return [addShared, mergeShared, addUnkeyed, () => addOwn(), setOwn, remove(item), remove('/api/cart')]
}
