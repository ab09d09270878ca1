import { setTimeout as delay } from 'node:timers/promises'
import type pg from 'pg'
import type { DatabaseHosts } from '../connections/hosts.ts'
import type { ConnectionPool } from '../connections/pool.ts'
import { databaseBusyError, isConnectionUnusable, isPreparedStatementStale } from '../errors.ts'
import type { SendStatement } from '../queryable.ts'
import { type RowOf, statement } from '../statement.ts'
import { createCallBatcher } from '../transactions/call-batching.ts'
import { createReplicationLag, parseLogPosition } from './lag.ts'

/** Statistics of the replica, and of the slow reads of this process since its start. */
export type ReplicaStatistics = {
  /** Why slow reads use the primary; `null` while they use the replica. */
  problem: string | null
  lagSeconds: number
  /** Slow reads by the server that answered them. */
  reads: { replica: number; primary: number }
}
type Answer = Awaited<ReturnType<SendStatement>>
type ReplicaOptions = {
  pool: ConnectionPool
  hosts: DatabaseHosts
  /** Reads the position of the primary. */
  findPosition: () => Promise<RowOf<typeof findCommittedPosition> | undefined>
  /** How long a statement may run on the replica, in milliseconds. */
  statementTimeoutMs: number
  /** Called when the replica becomes unusable, with the reason, and with `null` when it is used again. */
  onChange?: ((problem: string | null) => void) | undefined
}

/** How long a read waits until the replica has replayed what was committed before the read, in milliseconds. */
const WAIT_MS_MAX = 100
const POLL_MS = 4
const CHECK_MS = 1_000
const CONNECT_MS_MAX = 1_000
/** The client waits longer than the statement timeout of the server by this. */
const SERVER_HEAD_START_MS = 250

/**
 * Returns a position of the primary behind all commits that were acknowledged before. They are flushed, except with
 * `synchronous_commit = off`. The timeline tells a standby of a former primary, which may have commits that were lost.
 */
export const findCommittedPosition = statement({
  name: 'cartwright.find_committed_position',
  gives: { timeline: 'text', position: 'text' },
  text: `
    select left(pg_walfile_name(pg_current_wal_lsn()), 8) as timeline,
      (case current_setting('synchronous_commit') when 'off' then pg_current_wal_insert_lsn()
        else pg_current_wal_flush_lsn() end)::text as position`
})
// The control file knows the timeline from the last restart point on, which is at most `checkpoint_timeout` ago.
const LOOK = `
  select pg_is_in_recovery() as is_standby, pg_last_wal_replay_lsn()::text as position,
    coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) as is_current,
    (select lpad(upper(to_hex(greatest(timeline_id, min_recovery_end_timeline))), 8, '0')
      from pg_control_checkpoint(), pg_control_recovery()) as timeline`
type Look = { is_standby: boolean; position: string | null; is_current: boolean; timeline: string }

/**
 * Reads from a replica what it has completely. Each read asks the primary for its position first, and the replica executes it
 * after it has replayed the log up to there. So the read sees every commit that was acknowledged before it began, by this
 * process or another one, and no caller misses its own write. A replica that does not get there in 100 ms, or fails, gets no
 * more reads until it passes a check, which runs once a second.
 */
export function openReplica({ pool, hosts, findPosition, statementTimeoutMs, onChange }: ReplicaOptions) {
  const lag = createReplicationLag()
  const reads = { replica: 0, primary: 0 }
  let problem: string | null = 'it was not checked yet'
  let reported: string | null | undefined
  let timer: NodeJS.Timeout | undefined
  let isClosed = false

  // Reads that begin simultaneously share a position.
  const readPosition = createCallBatcher<undefined, RowOf<typeof findCommittedPosition>>(async reads => {
    const found = await findPosition()
    if (found === undefined) throw new Error('the primary returned no position')
    return reads.map(() => found)
  }, WAIT_MS_MAX)

  /** Returns why the replica cannot answer a read that began at this position of the primary. */
  async function findProblem(
    client: pg.Client,
    { position, timeline }: RowOf<typeof findCommittedPosition>,
    deadlineAt: number
  ): Promise<string | null> {
    for (;;) {
      const query = { text: LOOK, values: [position], query_timeout: WAIT_MS_MAX }
      const { rows } = await client.query<Look>(query as pg.QueryConfig)
      const look = rows[0] as Look
      if (!look.is_standby) return 'it is not a standby'
      if (look.timeline !== timeline)
        return `its timeline is ${look.timeline}, and that of the primary ${timeline}`
      if (look.position !== null) lag.replayed(parseLogPosition(look.position))
      if (look.is_current) return null
      if (performance.now() + POLL_MS > deadlineAt) return `it lags ${WAIT_MS_MAX} ms or more`
      await delay(POLL_MS)
    }
  }

  /** Runs `work` on a connection of the replica. @throws what `work` throws, and `unavailable` when there is no connection. */
  async function withConnection<T>(deadlineAt: number, work: (client: pg.Client) => Promise<T>): Promise<T> {
    const client = await pool.acquire(deadlineAt)
    let isBroken = false
    try {
      return await work(client)
    } catch (error) {
      isBroken = isConnectionUnusable(error)
      if (isPreparedStatementStale(error)) pool.replaceConnections()
      throw error
    } finally {
      pool.release(client, isBroken)
    }
  }

  async function tryRead(
    { name, text }: Parameters<SendStatement>[0],
    values: unknown[]
  ): Promise<Answer | undefined> {
    const deadlineAt = performance.now() + WAIT_MS_MAX
    const position = await readPosition(undefined)
    return withConnection(deadlineAt, async client => {
      problem = await findProblem(client, position, deadlineAt)
      const query = { name, text, values, query_timeout: statementTimeoutMs + SERVER_HEAD_START_MS }
      return problem === null ? client.query(query as pg.QueryConfig) : undefined
    })
  }

  /** Returns the rows, or undefined when the primary must be read. */
  async function read(
    statement: Parameters<SendStatement>[0],
    values: unknown[]
  ): Promise<Answer | undefined> {
    const answer =
      problem === null
        ? await tryRead(statement, values).catch(error => {
            if (isConnectionUnusable(error)) problem = describe(error)
            return undefined
          })
        : undefined
    reads[answer === undefined ? 'primary' : 'replica'] += 1
    return answer
  }

  async function check(): Promise<void> {
    const position = await readPosition(undefined).catch(() => undefined)
    // Without the primary nothing is known of the replica.
    if (position === undefined) return
    const now = performance.now()
    lag.note(parseLogPosition(position.position), now)
    problem = await withConnection(now + CONNECT_MS_MAX, client =>
      findProblem(client, position, performance.now() + WAIT_MS_MAX)
    ).catch(error => (isBusy(error) ? problem : describe(error)))
    if (isClosed) return
    if (problem !== null) {
      hosts.leave(hosts.current)
      pool.replaceConnections()
    }
    if (reported === undefined || (problem === null) !== (reported === null)) onChange?.(problem)
    reported = problem
  }

  async function checkAgainAndAgain(): Promise<void> {
    await check()
    if (!isClosed) timer = setTimeout(checkAgainAndAgain, CHECK_MS).unref()
  }
  checkAgainAndAgain()

  return {
    read,
    statistics: (): ReplicaStatistics => ({
      problem,
      lagSeconds: lag.at(performance.now()) / 1_000,
      reads: { ...reads }
    }),
    close: (): void => {
      isClosed = true
      clearTimeout(timer)
    }
  }
}

const isBusy = (error: unknown) => (error as { code?: string }).code === databaseBusyError.code
const describe = (error: unknown): string => {
  const { message, cause } = error as Error
  return `it cannot be reached: ${cause instanceof Error ? cause.message : message}`
}
