import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import type { Answer, HttpClient } from '../support/http-client.ts'

const RETRY_PAUSE_MS = 25
const HANG_UP_MS_MAX = 50
const RECOVERY_MS_MAX = 60_000

/** How much of something was sent, and how much of it was acknowledged. */
type Sum = { started: number; acknowledged: number }
/** A write with its key: sent again, it is the same write. */
type KeyedWrite = { method: string; path: string; token?: string; key: string; body?: unknown }

/** One write with its key, from its first try to its answer; `endedAt` is infinite when it was given up. */
export type Operation = { what: string; startedAt: number; endedAt: number; tries: number }

/** What all clients write to one cart, and what they were told. */
export type Load = {
  http: HttpClient
  /** An access token, and two variants: one written with keys only, one without. */
  shared: { token: string; keyed: string; unkeyed: string }
  keyed: Sum
  unkeyed: Sum
  acknowledged: number
  /** Tries that got no answer, or 503, or 409 because an earlier try was still claimed. */
  retried: number
  operations: Operation[]
  /** Answers that say that something is wrong with the program, whatever happened around it. */
  unexpected: string[]
  /** Every acknowledged write that had a key. */
  written: KeyedWrite[]
  /** How long everybody thinks between two writes. */
  pauseMs: number
  /** How often, of a hundred tries, a client hangs up before it is answered, and tries again. */
  hangsUpOfHundred: number
  stopping: boolean
}
/** Somebody who alone writes one variant into their own cart, and so always knows its quantity. */
export type Client = { token: string; variantId: string; own: number }

/** Sends a write until it is answered. @throws when the answer is an error that no outage explains. */
export async function insist(load: Load, { method, path, token, key, body }: KeyedWrite): Promise<Answer> {
  const options = { headers: { 'idempotency-key': key }, ...(token && { token }), body }
  const what = `${method} ${path}`
  const startedAt = performance.now()
  for (let tries = 1; ; tries += 1) {
    const hangsUp = randomInt(100) < load.hangsUpOfHundred
    const cut = hangsUp && { cutAfterMs: randomInt(HANG_UP_MS_MAX) }
    const answer = await load.http.send(method, path, { ...options, ...cut })
    const endedAt = performance.now()
    if (answer !== undefined && answer.status < 300) {
      load.operations.push({ what, startedAt, endedAt, tries })
      return answer
    }
    load.retried += 1
    const said = `${what} was answered ${answer?.status} ${JSON.stringify(answer?.json)}`
    if (answer !== undefined && answer.status >= 500 && answer.status !== 503) load.unexpected.push(said)
    const mayRepeat =
      answer === undefined || answer.status >= 500 || answer.json?.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
    if (!mayRepeat || endedAt - startedAt > RECOVERY_MS_MAX) {
      load.operations.push({ what, startedAt, endedAt: Number.POSITIVE_INFINITY, tries })
      throw new Error(said)
    }
    await delay(RETRY_PAUSE_MS)
  }
}

/** Writes until told to stop; after every write the own cart must be what it was told. */
export async function runClient(load: Load, client: Client): Promise<void> {
  const operations = operationsOf(load, client)
  while (!load.stopping) {
    await operations[randomInt(operations.length)]?.()
    const answer = await load.http.send('GET', '/api/cart/count', { token: client.token })
    if (answer?.status === 200) expectOwn(client, answer)
    if (load.pauseMs > 0) await delay(load.pauseMs)
  }
}

export function expectOwn({ own }: Client, { json }: Answer): void {
  if (json.count !== own) throw new Error(`a client wrote ${own} and reads ${json.count}`)
}

function operationsOf(load: Load, client: Client): (() => Promise<void>)[] {
  const { shared, keyed, unkeyed } = load
  const { token, variantId } = client
  const item = `/api/cart/items/${variantId}`

  const write = async (unkeyedWrite: Omit<KeyedWrite, 'key'>) => {
    const keyedWrite = { ...unkeyedWrite, key: newId() }
    const answer = await insist(load, keyedWrite)
    load.acknowledged += 1
    load.written.push(keyedWrite)
    return answer
  }
  const post = (path: string, body: unknown, as?: string) =>
    write({ method: 'POST', path, body, ...(as && { token: as }) })

  const addShared = async () => {
    keyed.started += 2
    await post('/api/cart', { variant_id: shared.keyed, quantity: 2 }, shared.token)
    keyed.acknowledged += 2
  }
  const mergeShared = async () => {
    keyed.started += 3
    const guest = await post('/api/guest-cart', { variant_id: shared.keyed, quantity: 3 })
    await post('/api/cart/merge', { guest_cart_token: guest.json.guest_cart_token }, shared.token)
    keyed.acknowledged += 3
  }
  const addUnkeyed = async () => {
    unkeyed.started += 1
    const body = { variant_id: shared.unkeyed, quantity: 1 }
    const answer = await load.http.send('POST', '/api/cart', { token: shared.token, body })
    if (answer?.status !== 200) return
    unkeyed.acknowledged += 1
    load.acknowledged += 1
  }
  const addOwn = async (quantity = 1) => {
    await post('/api/cart', { variant_id: variantId, quantity }, token)
    client.own += quantity
  }
  const setOwn = async () => {
    const quantity = randomInt(1, 1_000)
    if (client.own === 0) return addOwn(quantity)
    await write({ method: 'PUT', path: item, token, body: { quantity } })
    client.own = quantity
  }
  const remove = (path: string) => async () => {
    await write({ method: 'DELETE', path, token })
    client.own = 0
  }
  return [addShared, mergeShared, addUnkeyed, () => addOwn(), setOwn, remove(item), remove('/api/cart')]
}
