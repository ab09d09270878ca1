import type pg from 'pg'
import type { SessionSettings } from './connect.ts'
import { forgetPrepared } from './joint-query.ts'

/** What the server has for the settings that not every connection of ours sets. */
const SERVER_DEFAULTS: SessionSettings = { enable_seqscan: 'on', default_transaction_read_only: 'off' }

/** What `pg` knows of the statements that are prepared on a connection, which its types do not declare. */
type Known = { connection: { parsedStatements: object; submittedNamedStatements: object } & pg.Connection }

/** Makes an idle connection of another pool one with these settings, and without prepared statements. */
export async function takeOver(client: pg.Client, settings: SessionSettings): Promise<void> {
  await client.query('deallocate all')
  const { connection } = client as unknown as Known
  Object.assign(connection, { parsedStatements: {}, submittedNamedStatements: {} })
  forgetPrepared(connection)
  const all = { ...SERVER_DEFAULTS, ...settings }
  await client.query('select set_config(key, value, false) from json_each_text($1)', [JSON.stringify(all)])
}
