import type pg from 'pg'
import { OperatorError } from '../../kernel/errors.ts'
import { closePgClient } from './clients.ts'
import { openUnpooledPgClient } from './connect.ts'
import type { DatabaseConnectConfig } from './connections/session.ts'
import { translateDatabaseError } from './errors.ts'

const SHARED_SESSION =
  'DATABASE_URL (database.url) leads to a pooler that shares the sessions of PostgreSQL between connections, as ' +
  'PgBouncer does with pool_mode = transaction or statement: set it to pool_mode = session, or use the address of ' +
  'PostgreSQL itself.'
/** PgBouncer allows no transactions with `pool_mode = statement`. */
const POOLING = /pooling/
const BACKEND = 'select pg_backend_pid() as pid'

/**
 * Proves that each connection has a session of its own: prepared statements, time limits and LISTEN need one. Two connections
 * must be served by two processes of the server, and always by the same one, also while the other is in a transaction. Each is in
 * one in turn: a pooler with two free sessions may give both connections the right one once, but not in every order.
 * @throws OperatorError when a pooler shares sessions, and `unavailable` when a connection is lost.
 */
export async function proveOwnSessions(config: DatabaseConnectConfig): Promise<void> {
  await prove(config).catch(error => {
    throw translateDatabaseError(error)
  })
}

async function prove(config: DatabaseConnectConfig): Promise<void> {
  const clients: pg.Client[] = []
  try {
    for (let count = 0; count < 2; count += 1) clients.push(await openUnpooledPgClient(config))
    const [one, two] = clients as [pg.Client, pg.Client]
    const backends = [await backendOf(one), await backendOf(two)]
    for (const busy of [two, one, two]) {
      // A pooler that shares sessions gives the one that is free now to this transaction.
      await busy.query('begin').catch(error => {
        throw POOLING.test(error.message) ? new OperatorError(SHARED_SESSION, { cause: error }) : error
      })
      const seen = [await backendOf(one), await backendOf(two)]
      if (new Set(seen).size < 2 || seen.some((backend, at) => backend !== backends[at]))
        throw new OperatorError(SHARED_SESSION)
      await busy.query('commit')
    }
  } finally {
    await Promise.all(clients.map(closePgClient))
  }
}

const backendOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>(BACKEND)).rows[0]?.pid
