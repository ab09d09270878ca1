import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import type { Transaction } from './postgres.ts'
import { statement } from './statement.ts'

/**
 * One word from a process to every process, itself included, by PostgreSQL's NOTIFY: sent when the transaction
 * commits, never when it does not. For dropping cached entries, so it may not be missed silently: whenever
 * messages can have been lost, subscribers are told that they know nothing any more.
 */
export type Broadcast = {
  publish(tx: Transaction, topic: string, payload: string): Promise<void>
  /** `onGap` is called when the connection is lost, and again when it is back: drop all that you have cached. */
  subscribe(topic: string, subscriber: Subscriber): void
  /** False while messages may be passing unheard; then nothing should be served from a cache of this process. */
  isLive(): boolean
  close(): Promise<void>
}
export type Subscriber = { onMessage(payload: string): void; onGap(): void }

const CHANNEL = 'cartwright'
const HEARTBEAT_MS = 500
const HEARTBEAT_TIMEOUT_MS = 500
const RECONNECT_PAUSE_MS = 200

const notify = statement('broadcast.notify', {}, `select pg_notify('cartwright', $1)`)

export async function openBroadcast(settings: pg.ClientConfig): Promise<Broadcast> {
  const subscribers = new Map<string, Subscriber[]>()
  const closing = new AbortController()
  let live = false
  let connected: pg.Client

  const setLive = (now: boolean) => {
    live = now
    for (const subscriber of [...subscribers.values()].flat()) subscriber.onGap()
  }

  const connect = async () => {
    const client = new pg.Client({ ...settings, query_timeout: HEARTBEAT_TIMEOUT_MS } as pg.ClientConfig)
    client.on('notification', ({ payload = '' }) => {
      const cut = payload.indexOf(' ')
      const topic = payload.slice(0, cut)
      for (const subscriber of subscribers.get(topic) ?? []) subscriber.onMessage(payload.slice(cut + 1))
    })
    client.on('error', () => {})
    await client.connect()
    await client.query(`listen ${CHANNEL}`)
    return client
  }

  // A heartbeat finds the connection that is dead without having said so.
  const watch = async () => {
    while (!closing.signal.aborted) {
      try {
        await delay(HEARTBEAT_MS, undefined, { signal: closing.signal })
        await connected.query('select 1')
      } catch {
        if (closing.signal.aborted) return
        setLive(false)
        connected.end().catch(() => {})
        await reconnect()
      }
    }
  }

  const reconnect = async () => {
    while (!closing.signal.aborted) {
      try {
        connected = await connect()
        setLive(true)
        return
      } catch {
        await delay(RECONNECT_PAUSE_MS)
      }
    }
  }

  connected = await connect()
  live = true
  const watching = watch()

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
      await watching
      await connected.end().catch(() => {})
    }
  }
}
