import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type pg from 'pg'
import { connectToServer, hangUp } from './postgres/connect.ts'
import { Opener } from './postgres/opener.ts'
import { statement } from './postgres/statement.ts'
import type { Transaction } from './postgres/transaction.ts'

/**
 * One word from a process to every process, itself included, by PostgreSQL's NOTIFY: sent when the transaction
 * commits, never when it does not. For dropping cached entries, so it may not be missed silently: whenever
 * messages can have been lost, `onGap` of every subscriber is called.
 */
export type Broadcast = {
  /** At most 7,900 bytes, topic and payload together. */
  publish(tx: Transaction, topic: string, payload: string): Promise<void>
  /** `onGap` is called when the connection is lost, and again when it is back: drop all that you have cached. */
  subscribe(topic: string, subscriber: Subscriber): void
  /** False while messages may be missed; then nothing should be served from a cache of this process. */
  isLive(): boolean
  close(): Promise<void>
}
export type Subscriber = { onMessage(payload: string): void; onGap(): void }

const HEARTBEAT_MS = 250
/** A heartbeat without an answer for so long: other connections may be dead, too. */
const SILENCE_MS = 250
/** And for so long: this one is. */
const SILENCE_MS_MAX = 500
/** Longer: the heartbeat looks for itself whether it was this process that stood still. */
const QUERY_MS_MAX = 2_000
const LISTEN_MS_MAX = 500

const notify = statement({
  name: 'broadcast.notify',
  takes: { message: 'text' },
  text: `select pg_notify('cartwright', $message)`
})

/**
 * `onSilence` is called when the database does not answer: this connection is asked all the time, so it is the first
 * to notice. @throws OperatorError when the database cannot be reached now; later it is waited for.
 */
export async function openBroadcast(
  settings: pg.ClientConfig,
  onSilence: () => void = () => {}
): Promise<Broadcast> {
  const subscribers = new Map<string, Subscriber[]>()
  const closing = new AbortController()
  const { signal } = closing

  const deliver = (message: string) => {
    const cut = message.indexOf(' ')
    for (const subscriber of subscribers.get(message.slice(0, cut)) ?? []) {
      subscriber.onMessage(message.slice(cut + 1))
    }
  }
  const listenSettings = { ...settings, query_timeout: QUERY_MS_MAX }
  let client = await connectToServer(listenSettings)
  await listen(client, deliver)
  let live = true
  const setLive = (now: boolean) => {
    live = now
    for (const subscriber of [...subscribers.values()].flat()) subscriber.onGap()
  }

  const listenAgain = (): Promise<pg.Client | undefined> =>
    new Promise(resolve => {
      let isListening = false
      const opener = new Opener(listenSettings, {
        missing: () => (isListening ? 0 : 1),
        onFail: () => {},
        onOpen: next => {
          if (isListening) return hangUp(next)
          listen(next, deliver).then(
            () => {
              if (isListening || signal.aborted) return hangUp(next)
              isListening = true
              return resolve(next)
            },
            () => opener.open()
          )
          return undefined
        }
      })
      opener.open()
      signal.addEventListener('abort', () => {
        opener.close()
        resolve(undefined)
      })
    })
  const keepListening = async () => {
    for (;;) {
      await untilLost(client, signal, onSilence)
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
      await tx.run(notify, { message: `${topic} ${payload}` })
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

async function listen(client: pg.Client, deliver: (message: string) => void): Promise<void> {
  client.on('notification', ({ payload = '' }) => deliver(payload))
  try {
    await client.query({ text: 'listen cartwright', query_timeout: LISTEN_MS_MAX } as pg.QueryConfig)
  } catch (error) {
    hangUp(client)
    throw error
  }
}

/** Returns when the connection has ended, or has not answered a heartbeat: it may have been lost without being closed. */
async function untilLost(client: pg.Client, closing: AbortSignal, onSilence: () => void): Promise<void> {
  const ended = new AbortController()
  client.once('end', () => ended.abort())
  const signal = AbortSignal.any([closing, ended.signal])
  while (!signal.aborted && (await answers(client, onSilence))) {
    await delay(HEARTBEAT_MS, undefined, { signal }).catch(() => {})
  }
}

async function answers(client: pg.Client, onSilence: () => void): Promise<boolean> {
  const answer = client.query('select 1').then(
    () => true,
    () => false
  )
  if (await Promise.race([answer, silence(SILENCE_MS)])) return true
  onSilence()
  return Promise.race([answer, silence(SILENCE_MS_MAX - SILENCE_MS)])
}

// One more turn: if it was this process that stood still, the answer is there and only has to be read.
const silence = (milliseconds: number) =>
  delay(milliseconds, false, { ref: false }).then(() => nextTurn(false))
