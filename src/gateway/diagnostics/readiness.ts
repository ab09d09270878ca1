import { createSingleFlight } from '../../kernel/single-flight.ts'
import type { KeyValueCache, RedisHealth } from '../../platform/cache/cache.ts'
import type { Database } from '../../platform/postgres/database.ts'

const PING_TIMEOUT_MS = 3_000
/** The result of a test write is reused, because a write costs more than a ping. */
const WRITE_RESULT_MS = 1_000
/** A response waits for a new test write only when the last result is older, because load balancers check more often. */
const WRITE_RESULT_MS_MAX = 15_000

type CheckResult = 'UP' | 'DOWN'
type WriteState = CheckResult | 'READ_ONLY'
export type ReplicaState = Pick<NonNullable<ReturnType<Database['replicaStatistics']>>, 'problem'>
export type Readiness = { isReady: boolean; body: Record<string, string | null> }
export type ReadinessDeps = {
  db: Pick<Database, 'ping' | 'proveWrite' | 'isReadOnly' | 'isOutOfConnections'> & {
    replicaStatistics(): ReplicaState | undefined
  }
  cache: Pick<KeyValueCache, 'ping' | 'statistics'>
  /** Whether the process is starting or stopping. */
  isHeld: () => boolean
}

/**
 * Creates the check of `/readyz`. Simultaneous callers share one check, so that probes cause no load. `writes`, `redis`
 * and `replica` do not change the status, because the process serves pages without them. Test writes run in the
 * background: on a slow disk they would delay the response until a load balancer gives up.
 */
export function createReadinessCheck({ db, cache, isHeld }: ReadinessDeps): () => Promise<Readiness> {
  const once = createSingleFlight<
    Record<'database' | 'cache', CheckResult> & { writes: WriteState; redis: RedisHealth }
  >()
  const writeOnce = createSingleFlight<CheckResult>()
  let written: { result: CheckResult; startedAt: number } | undefined

  const testWrite = async (): Promise<CheckResult> => {
    const startedAt = performance.now()
    const result = await check(() => db.proveWrite())
    written = { result, startedAt }
    return result
  }
  const checkWrites = async (): Promise<WriteState> => {
    if (db.isReadOnly) return 'READ_ONLY'
    const last = written
    const ageMs = performance.now() - (last?.startedAt ?? Number.NEGATIVE_INFINITY)
    if (last !== undefined && ageMs <= WRITE_RESULT_MS) return last.result
    const next = writeOnce('write', testWrite)
    return last !== undefined && ageMs <= WRITE_RESULT_MS_MAX ? last.result : next
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
    const replica = db.replicaStatistics()
    return {
      isReady,
      body: {
        status,
        ...checks,
        ...(replica && { replica: replica.problem === null ? 'UP' : 'DOWN' }),
        time: new Date().toISOString()
      }
    }
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
