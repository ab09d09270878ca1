import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type pg from 'pg'
import { connectToServer, hangUp } from './postgres-connect.ts'
import type { Transaction } from './postgres-transaction.ts'
import { statement } from './statement.ts'

/**
 * One word from a process to every process, itself included, by PostgreSQL's NOTIFY: sent when the transaction
 * commits, never when it does not. For dropping cached entries, so it may not be missed silently: whenever
 * messages can have been lost, subscribers are told that they know nothing any more.
 */
export type Broadcast = {
  /** At most 7,900 bytes, topic and payload together. */
  publish(tx: Transaction, topic: string, payload: string): Promise<void>
  /** `onGap` is called when the connection is lost, and again when it is back: drop all that you have cached. */
  subscribe(topic: string, subscriber: Subscriber): void
  /** False while messages may be passing unheard; then nothing should be served from a cache of this process. */
  isLive(): boolean
  close(): Promise<void>
}
export type Subscriber = { onMessage(payload: string): void; onGap(): void }

const HEARTBEAT_MS = 500
const HEARTBEAT_TIMEOUT_MS = 500
const RECONNECT_PAUSE_MS = 200
const LISTEN_TIMEOUT_MS = 2_000

const notify = statement('broadcast.notify', {}, `select pg_notify('cartwright', $1)`)

/** @throws OperatorError when the database cannot be reached now; later it is waited for. */
export async function openBroadcast(settings: pg.ClientConfig): Promise<Broadcast> {
  const subscribers = new Map<string, Subscriber[]>()
  const closing = new AbortController()
  const { signal } = closing

  const deliver = (message: string) => {
    const cut = message.indexOf(' ')
    for (const subscriber of subscribers.get(message.slice(0, cut)) ?? []) {
      subscriber.onMessage(message.slice(cut + 1))
    }
  }
  let client = await listen(settings, deliver)
  let live = true
  const setLive = (now: boolean) => {
    live = now
    for (const subscriber of [...subscribers.values()].flat()) subscriber.onGap()
  }

  const listenAgain = async (): Promise<pg.Client | undefined> => {
    while (!signal.aborted) {
      const next = await listen(settings, deliver).catch(() => undefined)
      if (next === undefined) await delay(RECONNECT_PAUSE_MS)
      else if (signal.aborted) hangUp(next)
      else return next
    }
    return undefined
  }
  const keepListening = async () => {
    for (;;) {
      await untilLost(client, signal)
      if (signal.aborted) return
      setLive(false)
      hangUp(client)
      const next = await listenAgain()
      if (next === undefined) return
      client = next
      setLive(true)
    }
  }
  keepListening()

  return {
    publish: async (tx, topic, payload) => {
      await tx.query(notify, [`${topic} ${payload}`])
    },
    subscribe: (topic, subscriber) => {
      subscribers.set(topic, [...(subscribers.get(topic) ?? []), subscriber])
    },
    isLive: () => live,
    close: async () => {
      closing.abort()
      live = false
      await hangUp(client)
    }
  }
}

async function listen(settings: pg.ClientConfig, deliver: (message: string) => void): Promise<pg.Client> {
  const client = await connectToServer({ ...settings, query_timeout: LISTEN_TIMEOUT_MS })
  client.on('notification', ({ payload = '' }) => deliver(payload))
  try {
    await client.query('listen cartwright')
    return client
  } catch (error) {
    hangUp(client)
    throw error
  }
}

/** Returns when the connection has ended, or has not answered a heartbeat: it may be dead without having said so. */
async function untilLost(client: pg.Client, closing: AbortSignal): Promise<void> {
  const ended = new AbortController()
  client.once('end', () => ended.abort())
  const signal = AbortSignal.any([closing, ended.signal])
  while (!signal.aborted && (await answers(client))) {
    await delay(HEARTBEAT_MS, undefined, { signal }).catch(() => {})
  }
}

async function answers(client: pg.Client): Promise<boolean> {
  const answer = client.query('select 1').then(
    () => true,
    () => false
  )
  // One more turn: if it was this process that stood still, the answer is there and only has to be read.
  const silence = delay(HEARTBEAT_TIMEOUT_MS, false, { ref: false }).then(() => nextTurn(false))
  return Promise.race([answer, silence])
}
