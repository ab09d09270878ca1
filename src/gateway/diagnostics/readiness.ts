import { singleFlight } from '../../kernel/single-flight.ts'
import type { Cache, RedisState } from '../../platform/cache/cache.ts'
import type { Database } from '../../platform/postgres/database.ts'

const PING_TIMEOUT_MS = 3_000
/** A write costs more than a ping, so its result holds for a second. */
const WRITE_KEPT_MS = 1_000

type Checked = 'UP' | 'DOWN'
export type Readiness = { isReady: boolean; body: Record<string, string | null> }
export type ReadinessDeps = {
  db: Pick<Database, 'ping' | 'proveWrite' | 'isOut'>
  cache: Pick<Cache, 'ping' | 'statistics'>
  /** While the process starts or stops. */
  isHeld: () => boolean
}

/**
 * What `/readyz` says. Callers that come while a check is under way get its result, so that probing cannot become a
 * load. `writes` and `redis` are part of the answer and do not change the status: the process serves pages without both.
 */
export function createReadiness({ db, cache, isHeld }: ReadinessDeps): () => Promise<Readiness> {
  const once = singleFlight<Record<'database' | 'cache' | 'writes', Checked> & { redis: RedisState }>()
  let written: { state: Promise<Checked>; at: number } | undefined

  const checkWrites = (): Promise<Checked> => {
    const now = performance.now()
    if (written === undefined || now - written.at > WRITE_KEPT_MS)
      written = { state: check(() => db.proveWrite()), at: now }
    return written.state
  }
  // Behind the ping, which has a connection of its own.
  const pingDatabase = async () => {
    await db.ping()
    if (db.isOut()) throw new Error('Some kind of work has no database connection.')
  }
  const checkAll = async () => {
    let redis: RedisState = cache.statistics().redis
    const [database, cacheState, writes] = await Promise.all([
      check(pingDatabase),
      check(async () => {
        redis = await cache.ping()
      }),
      checkWrites()
    ])
    return { database, cache: cacheState, redis, writes: database === 'UP' ? writes : database }
  }

  return async () => {
    const checks = await once('all', checkAll)
    const isReady = checks.database === 'UP' && checks.cache === 'UP' && !isHeld()
    const status = isReady ? 'READY' : 'NOT_READY'
    return { isReady, body: { status, ...checks, time: new Date().toISOString() } }
  }
}

/** UP when the backend answered within 3 seconds. A question that hangs is left behind, not waited for. */
async function check(ask: () => Promise<void>): Promise<Checked> {
  const { promise: timeout, resolve } = Promise.withResolvers<Checked>()
  const timer = setTimeout(resolve, PING_TIMEOUT_MS, 'DOWN')
  const answer = Promise.try(ask).then(
    (): Checked => 'UP',
    (): Checked => 'DOWN'
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
