import type pg from 'pg'
import { DomainError } from '../../kernel/errors.ts'
import { translateBeginError, translateDatabaseError } from './errors.ts'
import type { ConnectionPool } from './pool.ts'

const PING_MS_MAX = 2_500
const WRITE_MS_MAX = 1_000
const BEGIN = 'begin read write'
/**
 * One real write that leaves nothing behind: a word in the write-ahead log, committed, and rows that do not fit into
 * memory, so that the disk is asked for room. No table of ours, hence no lock.
 */
const WRITE = `
  set local work_mem = '64kB';
  select pg_logical_emit_message(true, 'cartwright.write_probe', '');
  select count(*) from generate_series(1, 5000);
  commit`

/** Questions to the database, each over a connection that nothing else uses. `open` makes a pool of one. */
export function createProbes(open: (waitMs: number) => ConnectionPool) {
  const pings = open(PING_MS_MAX)
  const writes = open(WRITE_MS_MAX)

  async function on(pool: ConnectionPool, ask: (client: pg.Client) => Promise<unknown>): Promise<void> {
    const client = await pool.take()
    let isBroken = true
    try {
      await ask(client)
      isBroken = false
    } finally {
      pool.give(client, isBroken)
    }
  }

  return {
    pools: [pings, writes],
    /** One round trip. @throws `unavailable`. */
    ping: (): Promise<void> =>
      on(pings, client =>
        within(PING_MS_MAX, client, 'select 1').catch(error => {
          throw translateDatabaseError(error)
        })
      ),
    /** One write. @throws `unavailable` that says why nothing can be written. */
    write: (): Promise<void> =>
      on(writes, async client => {
        await within(WRITE_MS_MAX, client, BEGIN).catch(error => {
          throw translateBeginError(error)
        })
        await within(WRITE_MS_MAX, client, WRITE).catch(error => {
          const translated = translateDatabaseError(error)
          // An account that may not do one of these things can still write what is its own.
          if (translated instanceof DomainError) throw translated
        })
      })
  }
}

const within = (milliseconds: number, client: pg.Client, text: string) =>
  client.query({ text, query_timeout: milliseconds } as pg.QueryConfig)
