import type { ConnectionPoolStatistics } from '../../platform/postgres/pools.ts'
import type { CollectedMetric, WorkerMeasurements } from '../../platform/worker-link.ts'

/** A worker that does not answer for this time counts with its last measurements. */
const ANSWER_MS_MAX = 1_000
const NO_CONNECTIONS: ConnectionPoolStatistics = {
  max_conns: 0,
  total_conns: 0,
  acquired_conns: 0,
  idle_conns: 0,
  acquire_count: 0,
  empty_acquire_count: 0,
  acquire_duration_ms: 0
}

type Measure = () => Promise<WorkerMeasurements>

/** Adds up the measurements of workers. Counters of workers that ended stay in the sums, so that these never fall. */
export function createMeasurementSums() {
  const last = new Map<Measure, WorkerMeasurements | undefined>()
  let ended: Promise<readonly CollectedMetric[]> = Promise.resolve([])
  let endedPool = NO_CONNECTIONS

  const refresh = () =>
    Promise.all(
      [...last.keys()].map(async measure => {
        const measured = await answerInTime(measure)
        if (measured !== undefined && last.has(measure)) last.set(measure, measured)
      })
    )
  const known = () => [...last.values()].filter(each => each !== undefined)

  return {
    add: (measure: Measure): void => void last.set(measure, undefined),
    /** Sets the measurements of a worker, which are its last when it is about to end. */
    set: (measure: Measure, measured: WorkerMeasurements): void => void last.set(measure, measured),
    /** Removes a worker that ended. */
    remove(measure: Measure): void {
      const measured = last.get(measure)
      last.delete(measure)
      if (measured === undefined) return
      const { acquire_count, empty_acquire_count, acquire_duration_ms } = measured.pool
      endedPool = sumOfPools([
        endedPool,
        { ...NO_CONNECTIONS, acquire_count, empty_acquire_count, acquire_duration_ms }
      ])
      const counted = measured.metrics.filter(({ type }) => type !== 'gauge')
      ended = ended.then(before => sumOf(before, counted).catch(() => before))
    },
    /** Returns the metrics of all workers, and `own`, as text. */
    async expose(own: readonly CollectedMetric[]): Promise<string> {
      await refresh()
      const counted = await ended
      return (await aggregate([...known().map(({ metrics }) => metrics), counted, own])).metrics()
    },
    async refreshedPool(): Promise<ConnectionPoolStatistics> {
      await refresh()
      return this.pool()
    },
    /** The connections as of the last measurements. */
    pool: (): ConnectionPoolStatistics => sumOfPools([endedPool, ...known().map(({ pool }) => pool)]),
    /** The replica as of the last measurements: as a worker that uses it sees it, if there is one. */
    replica: (): WorkerMeasurements['replica'] => {
      const seen = known().flatMap(({ replica }) => replica ?? [])
      return seen.find(({ problem }) => problem === null) ?? seen[0]
    }
  }
}

async function answerInTime(measure: Measure): Promise<WorkerMeasurements | undefined> {
  const { promise: late, resolve } = Promise.withResolvers<undefined>()
  const timer = setTimeout(resolve, ANSWER_MS_MAX, undefined)
  const answer = measure().catch(() => undefined)
  return Promise.race([answer, late]).finally(() => clearTimeout(timer))
}

const sumOf = async (...all: (readonly CollectedMetric[])[]) =>
  (await (await aggregate(all)).getMetricsAsJSON()) as CollectedMetric[]

// Imported on first use, because the library loads 90 modules.
async function aggregate(all: readonly (readonly CollectedMetric[])[]) {
  const { Registry } = await import('@prometheus-io/client')
  return Registry.aggregate(all as never)
}

function sumOfPools(pools: readonly ConnectionPoolStatistics[]): ConnectionPoolStatistics {
  const sum = { ...NO_CONNECTIONS }
  for (const pool of pools)
    for (const name of Object.keys(sum) as (keyof ConnectionPoolStatistics)[]) sum[name] += pool[name]
  return sum
}
