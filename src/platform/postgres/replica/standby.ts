import type { Queryable } from '../database.ts'
import { statement } from '../statement.ts'
import type { ReplicaStatistics } from './replica.ts'

const CHECK_MS = 1_000
/** An edge shows pages that are so old without a warning. */
const LAG_SECONDS_MAX = 60

/** A standby that has replayed all that it has received from a connected primary lags by nothing, however old the last commit is. */
const findStandbyState = statement({
  name: 'cartwright.find_standby_state',
  gives: { is_standby: 'bool', lag_seconds: 'float8' },
  text: `
    select pg_is_in_recovery() as is_standby,
      case when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() and exists (select from pg_stat_wal_receiver)
        then 0 else coalesce(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0)
      end::float8 as lag_seconds`
})

/**
 * Watches the standby of a process that only reads. `onChange` is called with the reason when its pages may be old, and with
 * `null` when they are current again.
 */
export function watchStandby(db: Queryable, onChange: (problem: string | null) => void) {
  // A process that only reads has one server, so its reads are not counted.
  const reads = { replica: 0, primary: 0 }
  let statistics: ReplicaStatistics = { reads, problem: 'it was not checked yet', lagSeconds: 0 }
  let reported: string | null = null
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  async function read(): Promise<ReplicaStatistics> {
    const state = await db.first(findStandbyState)
    const lagSeconds = state?.lag_seconds ?? 0
    if (state?.is_standby !== true) return { problem: 'it is not a standby', lagSeconds, reads }
    const isOld = lagSeconds > LAG_SECONDS_MAX
    return { problem: isOld ? `it lags ${Math.round(lagSeconds)} seconds` : null, lagSeconds, reads }
  }
  async function checkAgainAndAgain(): Promise<void> {
    statistics = await read().catch(error => ({
      ...statistics,
      problem: `it cannot be reached: ${(error as Error).message}`
    }))
    if (isClosed) return
    if ((statistics.problem === null) !== (reported === null)) onChange(statistics.problem)
    reported = statistics.problem
    timer = setTimeout(checkAgainAndAgain, CHECK_MS).unref()
  }
  checkAgainAndAgain()

  return {
    statistics: (): ReplicaStatistics => statistics,
    close: (): void => {
      isClosed = true
      clearTimeout(timer)
    }
  }
}
