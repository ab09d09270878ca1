import { randomUUID } from 'node:crypto'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import type pg from 'pg'
import { OperatorError } from '../kernel/errors.ts'
import { closePgClient } from './postgres/clients.ts'
import { openUnpooledPgClient } from './postgres/connect.ts'
import { DatabaseConnector } from './postgres/connections/connector.ts'
import type { DatabaseConnectConfig } from './postgres/connections/session.ts'
import type { Transaction, TransactionRunner } from './postgres/database.ts'
import { statement } from './postgres/statement.ts'
import { answersSync } from './postgres/wire/sync-query.ts'

/**
 * Sends short messages to all processes, including this one, with PostgreSQL's NOTIFY: when the transaction commits, and only
 * then. It invalidates caches, so lost messages must be noticed: `onGap` of every subscriber is called whenever some may be
 * lost.
 */
export type Broadcast = {
  /** Topic and payload have at most 7,900 bytes together. */
  publish(tx: Transaction, topic: string, payload: string): Promise<void>
  /**
   * `onGap` is called when the LISTEN connection is lost and when it is back. The subscriber then drops all that it has
   * cached.
   */
  subscribe(topic: string, subscriber: BroadcastSubscriber): void
  /** Watches the LISTEN connection, which is the first to notice that the database is away. */
  watch(watcher: BroadcastWatcher): void
  /** False while messages may be lost; then do not serve from a cache of this process. */
  isLive(): boolean
  close(): Promise<void>
}
/** A broadcast whose LISTEN connection may lead through a pooler. */
export type ProvableBroadcast = Broadcast & {
  /**
   * Publishes a message through `db` and resolves when this process has received it. @throws OperatorError when it does not
   * arrive: a pooler forwards no messages. The LISTEN connection is then replaced.
   */
  prove(db: TransactionRunner): Promise<void>
}
export type BroadcastSubscriber = { onMessage(payload: string): void; onGap(): void }
/** `onLoss` is called before `isLive` is false and subscribers drop what they have cached, `onReturn` after it is true again. */
export type BroadcastWatcher = { onLoss(): void; onReturn(): void }

const HEARTBEAT_MS = 250
/** After a heartbeat without response for this long, other database connections are checked as well. */
const SILENCE_MS = 250
/** A LISTEN connection without response for this long counts as dead. */
const SILENCE_MS_MAX = 500
/**
 * Query timeout of the heartbeat. It exceeds `SILENCE_MS_MAX`, because the heartbeat first checks whether this process was
 * blocked.
 */
const QUERY_MS_MAX = 2_000
const LISTEN_MS_MAX = 500
/** How long a process without LISTEN caches, in milliseconds. */
const EXPIRY_MS = 1_000
const PROOF_TOPIC = 'proof'
const PROOF_MS_MAX = 2_000

const notify = statement({
  name: 'broadcast.notify',
  takes: { message: 'text' },
  text: `select pg_notify('cartwright', $message)`
})

/**
 * Opens the LISTEN connection. `listens: false`: a standby has no LISTEN, so subscribers drop what they have cached every
 * second instead. `onSilence` is called when the database does not respond: heartbeats make this connection the
 * first to notice.
 * @throws OperatorError when the database cannot be reached now. Later losses are retried.
 */
export async function openBroadcast(
  settings: DatabaseConnectConfig,
  onSilence: () => void = () => {},
  { listens = true } = {}
): Promise<ProvableBroadcast> {
  const subscribers = new Map<string, BroadcastSubscriber[]>()
  const watchers: BroadcastWatcher[] = []
  const closing = new AbortController()
  const { signal } = closing
  /** Proofs under way, by their payload. */
  const proofs = new Map<string, () => void>()
  subscribers.set(PROOF_TOPIC, [{ onMessage: payload => proofs.get(payload)?.(), onGap: () => {} }])

  const deliver = (message: string) => {
    const cut = message.indexOf(' ')
    for (const subscriber of subscribers.get(message.slice(0, cut)) ?? []) {
      subscriber.onMessage(message.slice(cut + 1))
    }
  }
  const listenSettings = { ...settings, query_timeout: QUERY_MS_MAX }
  let client = await openUnpooledPgClient(listenSettings)
  if (listens) await listen(client, deliver)
  let live = true
  const reportGap = () => {
    for (const subscriber of [...subscribers.values()].flat()) subscriber.onGap()
  }
  const expiry = listens ? undefined : setInterval(reportGap, EXPIRY_MS).unref()
  const setLive = (now: boolean) => {
    if (!now) for (const { onLoss } of watchers) onLoss()
    live = now
    reportGap()
    if (now) for (const { onReturn } of watchers) onReturn()
  }

  const listenAgain = (): Promise<pg.Client | undefined> =>
    new Promise(resolve => {
      let isListening = false
      const opener = new DatabaseConnector(listenSettings, {
        missing: () => (isListening ? 0 : 1),
        onFail: () => {},
        onOpen: next => {
          if (isListening) return closePgClient(next)
          const listening = listens ? listen(next, deliver) : Promise.resolve()
          listening.then(
            () => {
              if (isListening || signal.aborted) return closePgClient(next)
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
      closePgClient(client)
      const next = await listenAgain()
      if (next === undefined) return
      client = next
      setLive(true)
    }
  }
  keepListening()

  const publish: Broadcast['publish'] = async (tx, topic, payload) => {
    await tx.run(notify, { message: `${topic} ${payload}` })
  }
  return {
    publish,
    subscribe: (topic, subscriber) => {
      subscribers.set(topic, [...(subscribers.get(topic) ?? []), subscriber])
    },
    watch: watcher => watchers.push(watcher),
    isLive: () => live,
    prove: async db => {
      const payload = randomUUID()
      const { promise: arrived, resolve } = Promise.withResolvers<true>()
      proofs.set(payload, () => resolve(true))
      const proven = client
      try {
        await db.transaction(tx => publish(tx, PROOF_TOPIC, payload))
        // A connection that was lost meanwhile loses messages; it is replaced anyway.
        if ((await Promise.race([arrived, silence(PROOF_MS_MAX)])) || client !== proven || !live) return
      } finally {
        proofs.delete(payload)
      }
      closePgClient(proven)
      throw new OperatorError(
        'The database does not deliver messages (NOTIFY) to this process, as behind a pooler without LISTEN: let ' +
          'database.listen_url name PostgreSQL itself.'
      )
    },
    close: async () => {
      closing.abort()
      clearInterval(expiry)
      live = false
      await closePgClient(client)
    }
  }
}

async function listen(client: pg.Client, deliver: (message: string) => void): Promise<void> {
  client.on('notification', ({ payload = '' }) => deliver(payload))
  try {
    await client.query({ text: 'listen cartwright', query_timeout: LISTEN_MS_MAX } as pg.QueryConfig)
  } catch (error) {
    closePgClient(client)
    throw error
  }
}

/**
 * Returns when the LISTEN connection has ended or has not answered a heartbeat, because a peer can vanish without closing
 * it.
 */
async function untilLost(client: pg.Client, closing: AbortSignal, onSilence: () => void): Promise<void> {
  const ended = new AbortController()
  client.once('end', () => ended.abort())
  const signal = AbortSignal.any([closing, ended.signal])
  while (!signal.aborted && (await answers(client, onSilence))) {
    await delay(HEARTBEAT_MS, undefined, { signal }).catch(() => {})
  }
}

async function answers(client: pg.Client, onSilence: () => void): Promise<boolean> {
  const answer = answersSync(client)
  if (await Promise.race([answer, silence(SILENCE_MS)])) return true
  onSilence()
  return Promise.race([answer, silence(SILENCE_MS_MAX - SILENCE_MS)])
}

// Waits one turn of the event loop: when this process was blocked, the response has arrived but is not read yet.
const silence = (milliseconds: number) =>
  delay(milliseconds, false, { ref: false }).then(() => nextTurn(false))
