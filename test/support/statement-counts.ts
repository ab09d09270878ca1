import pg from 'pg'
import { sumBy } from '../../src/kernel/sum-by.ts'
import { listDeclaredStatements } from '../../src/platform/postgres/statement.ts'

/** What the executions of one statement cost, together. */
export type StatementCost = { name: string; calls: number; buffers: number; walBytes: number }
type Server = { url: string; stop(): Promise<void> }

/** Starts a server with pg_stat_statements, which is loaded at a start only, and with further settings. */
export async function startWithStatementCounts(
  start: () => Promise<Server>,
  settings: Readonly<Record<string, string>> = {}
): Promise<Server> {
  const first = await start()
  const client = new pg.Client({ connectionString: first.url })
  await client.connect()
  for (const [name, value] of Object.entries({ ...settings, shared_preload_libraries: 'pg_stat_statements' }))
    await client.query(`alter system set ${name} = '${value}'`)
  await client.query('create extension pg_stat_statements schema public')
  await client.end()
  await first.stop()
  return start()
}

/** Counts the statements of every other connection. */
export async function openStatementCounter(url: string) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  // Statements of another role are told apart.
  await client.query('create role observer superuser')
  await client.query('set role observer')
  const sql = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows
  return {
    sql,
    reset: () => sql('select pg_stat_statements_reset()'),
    /** Lists the statements since the reset. PostgreSQL does not count the WAL of a commit. */
    read: async (): Promise<StatementCost[]> => {
      const rows = await sql(`
        select query, sum(calls)::int as calls, sum(shared_blks_hit + shared_blks_read)::int as buffers,
          sum(wal_bytes)::int as "walBytes"
        from pg_stat_statements where userid <> 'observer'::regrole group by query`)
      const declared = Map.groupBy(listDeclaredStatements(), ({ text }) => shapeOf(text))
      const nameOf = (query: string) =>
        declared
          .get(shapeOf(query))
          ?.map(({ name }) => name)
          .join(' or ') ?? shapeOf(query)
      const costs = rows
        .map(({ query, ...cost }) => ({ ...cost, name: nameOf(query) }))
        .filter(({ name }) => !OF_CONNECTIONS.test(name) && !POLLS.has(name))
      // PostgreSQL shows a statement twice when connections prepared it with other types.
      return [...Map.groupBy(costs, ({ name }) => name)].map(([name, same]) => ({ name, ...sumCosts(same) }))
    },
    close: () => client.end()
  }
}

/** What begins and ends transactions, and what a process asks its connections from time to time. */
const OF_CONNECTIONS = /^(?:begin\b.*|commit|rollback|select \?|select current_setting\(\?\) as mark)$/i

/** What a process asks the database from time to time, also when nothing happens. */
const POLLS = new Set(['outbox.find_due', 'inventory.list_changes'])

export const sumCosts = (costs: readonly StatementCost[]): Omit<StatementCost, 'name'> => ({
  calls: sumBy(costs, ({ calls }) => calls),
  buffers: sumBy(costs, ({ buffers }) => buffers),
  walBytes: sumBy(costs, ({ walBytes }) => walBytes)
})

/** A statement without its constants, for which pg_stat_statements shows parameters. */
const shapeOf = (text: string): string =>
  text
    .replaceAll(/'(?:[^']|'')*'|\$\d+|\b\d+(?:\.\d+)?\b|\b(?:null|true|false)\b/gi, '?')
    .replaceAll(/-\s*\?|\?\s*\/\*, \.\.\. \*\/|\?(?:, \?)+/g, '?')
    .replaceAll(/extract ?\(\w+ from/g, 'extract(? from')
    .replaceAll(/\s+/g, ' ')
    .trim()
