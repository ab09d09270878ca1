import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { hangUp } from './connect.ts'

/**
 * A connection that may be dead. `end` takes it away from those who would use it, and ends it. One in use may be silent
 * for `patienceMs`: that is how long its statements wait for others.
 */
export type Suspect = { client: pg.Client; patienceMs?: number; end(): void }

const CONNECT_MS_MAX = 1_000
const ANSWER_MS_MIN = 50
/** A server that takes long to accept a connection takes long for everything else. */
const CONNECT_TIMES_IN_USE = 5

/**
 * Ends those of the suspects whose other side is gone without having closed them. Each gets a question, and a new
 * connection is made: that takes the server longer than to answer, so one that has not answered by then never will. (A
 * limit of time alone would end good connections whenever the server has much to do.) One in use gets its time as
 * well. When no new connection can be made, all stay: an answer may still come, and ending them would help nobody.
 */
export function createSilenceCheck(settings: pg.ClientConfig, suspects: () => Suspect[]) {
  let isLooking = false

  return async (): Promise<void> => {
    if (isLooking) return
    isLooking = true
    const silent = new Set(suspects())
    for (const suspect of silent) {
      const isAlive = () => silent.delete(suspect)
      suspect.client.query({ text: 'select 1', query_timeout: CONNECT_MS_MAX } as pg.QueryConfig).then(
        isAlive,
        // In a transaction that has failed the answer is an error.
        error => error instanceof pg.DatabaseError && isAlive()
      )
    }
    const newcomer = new pg.Client({ ...settings, connectionTimeoutMillis: CONNECT_MS_MAX })
    newcomer.on('error', () => {})
    const startedAt = performance.now()
    const [{ status }] = await Promise.allSettled([newcomer.connect(), delay(ANSWER_MS_MIN)])
    const connectMs = performance.now() - startedAt
    hangUp(newcomer)
    for (const suspect of silent) if (suspect.patienceMs === undefined) suspect.end()
    const inUse = [...silent].filter(({ patienceMs }) => patienceMs !== undefined && status === 'fulfilled')
    const patienceMs = Math.max(connectMs * CONNECT_TIMES_IN_USE, ...inUse.map(each => each.patienceMs ?? 0))
    if (inUse.length > 0) await delay(patienceMs - connectMs)
    for (const suspect of inUse) if (silent.has(suspect)) suspect.end()
    isLooking = false
  }
}
