import { createSingleFlight } from '../../kernel/single-flight.ts'
import type { KeyValueCache, RedisHealth } from '../../platform/cache/cache.ts'
import type { Database } from '../../platform/postgres/database.ts'

const PING_TIMEOUT_MS = 3_000
/** The result of a test write is reused, because a write costs more than a ping. */
const WRITE_RESULT_MS = 1_000

type CheckResult = 'UP' | 'DOWN'
export type Readiness = { isReady: boolean; body: Record<string, string | null> }
export type ReadinessDeps = {
  db: Pick<Database, 'ping' | 'proveWrite' | 'isOutOfConnections'>
  cache: Pick<KeyValueCache, 'ping' | 'statistics'>
  /** Whether the process is starting or stopping. */
  isHeld: () => boolean
}

/**
 * Creates the check of `/readyz`. Simultaneous callers share one check, so that probes cause no load. `writes` and `redis`
 * do not change the status, because the process serves pages without both.
 */
export function createReadinessCheck({ db, cache, isHeld }: ReadinessDeps): () => Promise<Readiness> {
  const once = createSingleFlight<
    Record<'database' | 'cache' | 'writes', CheckResult> & { redis: RedisHealth }
  >()
  let written: { state: Promise<CheckResult>; at: number } | undefined

  const checkWrites = (): Promise<CheckResult> => {
    const now = performance.now()
    if (written === undefined || now - written.at > WRITE_RESULT_MS)
      written = { state: check(() => db.proveWrite()), at: now }
    return written.state
  }
  // Checked after the ping, which uses a connection outside the pool.
  const pingDatabase = async () => {
    await db.ping()
    if (db.isOutOfConnections()) throw new Error('One of the connection pools has no connection.')
  }
  const checkAll = async () => {
    let redis: RedisHealth = cache.statistics().redis
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

/** Returns UP if the backend responds within 3 seconds. Does not wait for a probe that hangs. */
async function check(probe: () => Promise<void>): Promise<CheckResult> {
  const { promise: timeout, resolve } = Promise.withResolvers<CheckResult>()
  const timer = setTimeout(resolve, PING_TIMEOUT_MS, 'DOWN')
  const answer = Promise.try(probe).then(
    (): CheckResult => 'UP',
    (): CheckResult => 'DOWN'
  )
  try {
    return await Promise.race([answer, timeout])
  } finally {
    clearTimeout(timer)
  }
}
