import { createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { OperatorError } from '../../kernel/errors.ts'
import { closePgClient } from '../postgres/clients.ts'
import { openUnpooledPgClient } from '../postgres/connect.ts'
import type { AppliedMigration } from '../postgres/migrate.ts'
import { type BackupFooter, type BackupHeader, type BackupTableHeader, COPY_END_LINE } from './archive.ts'
import { listSequences, listTablesByReferences } from './tables.ts'

export type BackupReport = { tables: number; rows: number; taken_at: string }
/** Called before each table, with its index and the number of tables. */
export type ReportBackupProgress = (table: string, index: number, of: number) => void

const MIGRATIONS_TABLE = 'cartwright.migrations'
const APPLIED = `select module, name, checksum from ${MIGRATIONS_TABLE} order by applied_at, module, name`
/**
 * Writes a consistent snapshot of the database at `url` to a new file while the shop keeps running. @throws OperatorError
 * when the database holds no shop or cannot be read, or the file cannot be written.
 */
export async function backUpDatabase(
  url: string,
  file: string,
  { version, progress }: { version: string; progress: ReportBackupProgress }
): Promise<BackupReport> {
  const part = `${file}.part`
  const client = await openUnpooledPgClient({ url, application_name: 'cartwright backup' })
  try {
    // Never overwrites a backup; the file gets its final name when it is complete.
    await (await open(file, 'wx', 0o600)).close()
    try {
      const report = await write(client, part, { version, progress })
      await rename(part, file)
      return report
    } catch (error) {
      await Promise.all([part, file].map(each => rm(each, { force: true })))
      throw error
    }
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') throw new OperatorError(`${file} already exists. Name another file.`)
    throw new OperatorError(`The backup failed: ${message}.`, { cause: error })
  } finally {
    closePgClient(client)
  }
}

async function write(
  client: pg.Client,
  part: string,
  { version, progress }: { version: string; progress: ReportBackupProgress }
): Promise<BackupReport> {
  await client.query('begin isolation level repeatable read, read only')
  await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
  const { rows: found } = await client.query(
    'select to_regclass($1) is not null as "isShop", now() as "takenAt"',
    [MIGRATIONS_TABLE]
  )
  const { isShop, takenAt } = found[0] as { isShop: boolean; takenAt: Date }
  if (!isShop) throw new OperatorError('There is no shop in this database yet: nothing to back up.')
  const migrations = (await client.query<AppliedMigration>(APPLIED)).rows
  const schemas = [...new Set(migrations.map(({ module }) => module))]
  const tables = await listTablesByReferences(client, schemas)
  const head: BackupHeader = {
    cartwright: 'backup',
    format: 1,
    version,
    taken_at: takenAt.toISOString(),
    migrations
  }
  const rows: Record<string, number> = {}

  async function* archive(): AsyncGenerator<string | Buffer> {
    yield `${JSON.stringify(head)}\n`
    for (const [index, { table, columns }] of tables.entries()) {
      progress(table, index + 1, tables.length)
      yield `${JSON.stringify({ table, columns } satisfies BackupTableHeader)}\n`
      const copy = client.query(copyTo(`copy (select ${columns.join(', ')} from ${table}) to stdout`))
      yield* copy as AsyncIterable<Buffer>
      yield COPY_END_LINE
      rows[table] = copy.rowCount
    }
    const sequences = await sequencesOf(client, schemas)
    yield `${JSON.stringify({ rows, sequences } satisfies BackupFooter)}\n`
  }

  const destination = createWriteStream(part, { flags: 'w', mode: 0o600, flush: true })
  await pipeline(Readable.from(archive()), createGzip(), destination)
  await client.query('commit')
  const total = Object.values(rows).reduce((sum, each) => sum + each, 0)
  return { tables: tables.length, rows: total, taken_at: head.taken_at }
}

async function sequencesOf(
  client: pg.Client,
  schemas: readonly string[]
): Promise<BackupFooter['sequences']> {
  const sequences: Record<string, BackupFooter['sequences'][string]> = {}
  for (const { name } of await listSequences(client, schemas)) {
    const { rows: state } = await client.query(`select last_value::text, is_called from ${name}`)
    sequences[name] = state[0]
  }
  return sequences
}
