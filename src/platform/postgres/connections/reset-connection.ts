import type pg from 'pg'
import { forgetPreparedStatements } from '../wire/batch-query.ts'
import type { DatabaseSessionSettings } from './session.ts'

/** Server defaults of the session settings that only some pools set. */
const SERVER_DEFAULTS: DatabaseSessionSettings = {
  enable_seqscan: 'on',
  default_transaction_read_only: 'off'
}

/** The prepared statements of a connection in `pg`, which its types do not declare. */
type Known = { connection: { parsedStatements: object; submittedNamedStatements: object } & pg.Connection }

/**
 * Prepares an idle connection of one pool for another: applies the session settings and deallocates the prepared statements.
 */
export async function resetDatabaseConnection(
  client: pg.Client,
  settings: DatabaseSessionSettings
): Promise<void> {
  await client.query('deallocate all')
  const { connection } = client as unknown as Known
  Object.assign(connection, { parsedStatements: {}, submittedNamedStatements: {} })
  forgetPreparedStatements(connection)
  const all = { ...SERVER_DEFAULTS, ...settings }
  await client.query('select set_config(key, value, false) from json_each_text($1)', [JSON.stringify(all)])
}
