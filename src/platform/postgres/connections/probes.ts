import type pg from 'pg'
import { DomainError } from '../../../kernel/errors.ts'
import { translateBeginError, translateDatabaseError } from '../errors.ts'
import type { ConnectionPool } from './pool.ts'

const PING_MS_MAX = 2_500
const WRITE_MS_MAX = 1_000
const BEGIN = 'begin read write'
/**
 * A write that leaves nothing behind: a committed WAL message, and rows that exceed `work_mem`, so that temporary disk
 * space is needed. It uses no table, so it takes no lock.
 */
const WRITE = `
  set local work_mem = '64kB';
  select pg_logical_emit_message(true, 'cartwright.write_probe', '');
  select count(*) from generate_series(1, 5000);
  commit`

/** Health checks of the database, each over its own connection. `open` opens a pool of one. */
export function createDatabaseProbes(open: (waitMs: number) => ConnectionPool) {
  const pings = open(PING_MS_MAX)
  const writes = open(WRITE_MS_MAX)

  async function on(pool: ConnectionPool, ask: (client: pg.Client) => Promise<unknown>): Promise<void> {
    const client = await pool.acquire()
    let isBroken = true
    try {
      await ask(client)
      isBroken = false
    } finally {
      pool.release(client, isBroken)
    }
  }

  return {
    pools: [pings, writes],
    /** Makes one round trip. @throws `unavailable`. */
    ping: (): Promise<void> =>
      on(pings, client =>
        within(PING_MS_MAX, client, 'select 1').catch(error => {
          throw translateDatabaseError(error)
        })
      ),
    /** Writes once. @throws `unavailable` with the reason when the database cannot be written. */
    write: (): Promise<void> =>
      on(writes, async client => {
        await within(WRITE_MS_MAX, client, BEGIN).catch(error => {
          throw translateBeginError(error)
        })
        await within(WRITE_MS_MAX, client, WRITE).catch(error => {
          const translated = translateDatabaseError(error)
          // A role without permission for one of these can still write its own tables.
          if (translated instanceof DomainError) throw translated
        })
      })
  }
}

const within = (milliseconds: number, client: pg.Client, text: string) =>
  client.query({ text, query_timeout: milliseconds } as pg.QueryConfig)
