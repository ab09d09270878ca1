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
 * must be served by two processes of the server, also while one of them is in a transaction, and always by the same one.
 * @throws OperatorError when a pooler shares sessions, and `unavailable` when a connection is lost.
 */
export async function proveOwnSessions(config: DatabaseConnectConfig): Promise<void> {
  await prove(config).catch(error => {
    throw translateDatabaseError(error)
  })
}

async function prove(config: DatabaseConnectConfig): Promise<void> {
  const idle = await openUnpooledPgClient(config)
  try {
    const before = await backendOf(idle)
    const busy = await openUnpooledPgClient(config)
    try {
      // A pooler that shares sessions gives the one that is free now to this transaction.
      await busy.query('begin').catch(error => {
        throw POOLING.test(error.message) ? new OperatorError(SHARED_SESSION, { cause: error }) : error
      })
      const [other, after] = [await backendOf(busy), await backendOf(idle)]
      if (other === before || after !== before) throw new OperatorError(SHARED_SESSION)
    } finally {
      await closePgClient(busy)
    }
  } finally {
    await closePgClient(idle)
  }
}

const backendOf = async (client: pg.Client): Promise<number | undefined> =>
  (await client.query<{ pid: number }>(BACKEND)).rows[0]?.pid
