import pg from 'pg'
import {
  createPgClient,
  forceCustomPlanSettings,
  keyLookupPlannerSettings,
  pgClientConfig
} from '../../src/platform/postgres/connect.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import { orderedParameterValues, type Statement } from '../../src/platform/postgres/statement.ts'

export type Sent = { statement: Statement; values: unknown[] }

/** Records the statements that a shop sends outside of transactions, with their values. */
export function recordStatements(db: Database): { sent: Sent[] } {
  const sent: Sent[] = []
  for (const method of ['rows', 'first'] as const) {
    const send = db[method] as (statement: Statement, given?: Record<string, unknown>) => Promise<never>
    db[method] = ((statement: Statement, given?: Record<string, unknown>) => {
      sent.push({ statement, values: orderedParameterValues(statement, given) })
      return send(statement, given)
    }) as never
  }
  return { sent }
}

/**
 * Counts the buffers that statements read. One session has the settings of quick reads, whose plans are generic. The other
 * has those of slow reads, which are planned for their values.
 */
export async function openBufferCounter(url: string) {
  const limits = { statementTimeoutMs: 60_000, lockTimeoutMs: 60_000 }
  const [quick, slow] = [keyLookupPlannerSettings, forceCustomPlanSettings].map(planning =>
    createPgClient(pgClientConfig({ url, ...limits }, planning))
  ) as [pg.Client, pg.Client]
  await Promise.all([quick.connect(), slow.connect()])
  const prepared = new Set<string>()

  async function count({ statement: { name, text, isSlow }, values }: Sent): Promise<number> {
    const client = isSlow ? slow : quick
    // Also reads the catalogs of PostgreSQL into the session, which would be counted otherwise.
    if (!prepared.has(name)) await client.query({ name, text, values })
    prepared.add(name)
    const given = values.length === 0 ? '' : `(${values.map(literal).join()})`
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: Node }] }>(
      `explain (analyze, buffers, timing off, format json) execute "${name}" ${given}`
    )
    const plan = rows[0]?.['QUERY PLAN'][0].Plan
    if (plan === undefined) throw new Error(`${name} has no plan`)
    return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
  }
  return { count, close: () => Promise.all([quick.end(), slow.end()]) }
}

type Node = { 'Shared Hit Blocks': number; 'Shared Read Blocks': number }

/** A value of a statement as `execute` takes it. */
export function literal(value: unknown): string {
  if (value === null) return 'null'
  if (value instanceof Date) return pg.escapeLiteral(value.toISOString())
  if (Buffer.isBuffer(value)) return `'\\x${value.toString('hex')}'`
  if (!Array.isArray(value)) return pg.escapeLiteral(String(value))
  const quoted = (each: unknown) => (each === null ? 'null' : `"${String(each).replace(/["\\]/g, '\\$&')}"`)
  return pg.escapeLiteral(`{${value.map(quoted).join()}}`)
}
