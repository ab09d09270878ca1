import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { closePgClient } from '../clients.ts'
import { createPgClient } from '../connect.ts'
import type { DatabaseConnectConfig } from './session.ts'

/** A database connection that may be dead. `end` removes it from its pool and destroys it. */
export type SuspectConnection = {
  client: pg.Client
  /** While it is in use: for how many milliseconds its statements may wait for a lock. 0: for none. */
  patienceMs?: number
  end(): void
}

const CONNECT_MS_MAX = 1_000
const ANSWER_MS_MIN = 50
/**
 * Connections in use may take this many times as long to respond as a new one takes to open. A server that accepts
 * connections slowly does everything slowly.
 */
const CONNECT_TIMES_IN_USE = 5

/**
 * Destroys the suspects whose peer vanished without closing them. Sends each a query and opens a new connection meanwhile.
 * That takes the server longer than a response, so a suspect without response by then is dead. (A fixed timeout would
 * destroy good connections of a busy server.) One in use gets five times as long, because the query waits behind its
 * statements, and at least its `patienceMs`. When no new connection can be opened, those that may wait for a lock are kept,
 * because a response may still come.
 */
export function createDeadPeerDetection(
  settings: DatabaseConnectConfig,
  suspects: () => SuspectConnection[]
) {
  let isLooking = false

  return async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    const silent = new Set(suspects())
    for (const suspect of silent) {
      const isAlive = () => silent.delete(suspect)
      suspect.client.query({ text: 'select 1', query_timeout: CONNECT_MS_MAX } as pg.QueryConfig).then(
        isAlive,
        // In a failed transaction the server responds to the test query with an error, so any response proves that
        // the peer lives.
        error => error instanceof pg.DatabaseError && isAlive()
      )
    }
    const newcomer = createPgClient({ ...settings, connectionTimeoutMillis: CONNECT_MS_MAX })
    const startedAt = performance.now()
    const [{ status }] = await Promise.allSettled([newcomer.connect(), delay(ANSWER_MS_MIN)])
    const connectMs = performance.now() - startedAt
    closePgClient(newcomer)
    const endIfSilent = async (suspect: SuspectConnection) => {
      const { patienceMs } = suspect
      if (patienceMs !== undefined) {
        if (patienceMs > 0 && status === 'rejected') return
        await delay(Math.max(connectMs * CONNECT_TIMES_IN_USE, patienceMs) - connectMs)
      }
      if (silent.has(suspect)) suspect.end()
    }
    await Promise.all([...silent].map(endIfSilent))
    isLooking = false
  }
}
