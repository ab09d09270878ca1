import { createReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { OperatorError } from '../../kernel/errors.ts'
import { expireEventCursors } from '../event-log/restored-positions.ts'
import { closePgClient } from '../postgres/clients.ts'
import { openUnpooledPgClient } from '../postgres/connect.ts'
import { applyMigrationsOfBackup, type MigrationSource } from '../postgres/migrate.ts'
import {
  type BackupArchiveReader,
  type BackupFooter,
  type BackupHeader,
  type BackupTableHeader,
  createBackupArchiveReader,
  InvalidBackupError
} from './archive.ts'
import type { BackupReport, ReportBackupProgress } from './backup.ts'
import { listSequences, listTablesByReferences } from './tables.ts'

/**
 * How many values of a sequence may have been drawn after the backup. Public sequences, such as order numbers, continue after
 * them, so no customer gets the number of an order that was lost.
 */
export const SEQUENCE_VALUES_SKIPPED_BY_RESTORE = 1_000_000

/**
 * Restores a backup into an empty database, in one transaction. Cursors of readers of the event log expire. The schema is that of the backup; the next start migrates it.
 * @throws OperatorError when the database is not empty, or the file is incomplete or of a newer version.
 */
export async function restoreDatabase(
  url: string,
  file: string,
  { modules, progress }: { modules: readonly MigrationSource[]; progress: ReportBackupProgress }
): Promise<BackupReport> {
  const client = await openUnpooledPgClient({ url, application_name: 'cartwright restore' })
  const source = createReadStream(file)
  const unzipped = createGunzip()
  const reading = pipeline(source, unzipped)
  // An error of the file or its compression reaches the code that reads the lines. After the last line it does not
  // matter.
  reading.catch(() => {})
  unzipped.on('error', () => {})
  try {
    const { rows } = await client.query("select to_regnamespace('cartwright') is null as is_empty")
    if (!rows[0].is_empty)
      throw new OperatorError(
        'There is a shop in this database: a backup is restored into an empty one. Set CARTWRIGHT_DATA to a new folder, or DATABASE_URL to a new database.'
      )
    await client.query('begin')
    await client.query('set local statement_timeout = 0; set local idle_in_transaction_session_timeout = 0')
    const report = await fill(client, createBackupArchiveReader(unzipped), { modules, progress })
    await reading
    await client.query('commit')
    await client.query('analyze')
    return report
  } catch (error) {
    if (error instanceof OperatorError) throw error
    const { code, message } = error as NodeJS.ErrnoException
    if (error instanceof InvalidBackupError || code?.startsWith('Z_'))
      throw new OperatorError(`${file} is no whole backup: ${message}. Nothing was restored.`)
    throw new OperatorError(`${file} cannot be restored: ${message}. Nothing was restored.`, { cause: error })
  } finally {
    source.destroy()
    closePgClient(client)
  }
}

async function fill(
  client: pg.Client,
  archive: BackupArchiveReader,
  { modules, progress }: { modules: readonly MigrationSource[]; progress: ReportBackupProgress }
): Promise<BackupReport> {
  const head = headOf(await archive.line())
  await applyMigrationsOfBackup(client, modules, head.migrations)
  const schemas = [...new Set(head.migrations.map(({ module }) => module))]
  const tables = await listTablesByReferences(client, schemas)
  // Migrations may have inserted rows.
  await client.query(`truncate ${tables.map(({ table }) => table).join(', ')}`)

  const counted: Record<string, number> = {}
  for (const [index, { table, columns }] of tables.entries()) {
    const next = (await archive.line()) as Partial<BackupTableHeader>
    if (next.table !== table || next.columns?.join() !== columns.join())
      throw new InvalidBackupError(`the table ${table} is not where it should be`)
    progress(table, index + 1, tables.length)
    const copy = client.query(copyFrom(`copy ${table} (${columns.join(', ')}) from stdin`))
    await pipeline(Readable.from(archive.rows()), copy)
    counted[table] = copy.rowCount
  }
  const end = (await archive.line()) as Partial<BackupFooter>
  const short = tables.find(({ table }) => end.rows?.[table] !== counted[table])
  if (short !== undefined) throw new InvalidBackupError(`of ${short.table} other rows arrived than it had`)
  for (const { name, is_of_column } of await listSequences(client, schemas)) {
    const state = end.sequences?.[name]
    if (state === undefined) throw new InvalidBackupError(`it does not say where ${name} goes on`)
    const { last_value, is_called } = state
    const ahead = is_of_column ? 0 : SEQUENCE_VALUES_SKIPPED_BY_RESTORE
    await client.query('select setval($1, $2::int8 + $3, $4)', [name, last_value, ahead, is_called])
  }
  await expireEventCursors(client)
  const rows = Object.values(counted).reduce((sum, each) => sum + each, 0)
  return { tables: tables.length, rows, taken_at: head.taken_at }
}

function headOf(line: unknown): BackupHeader {
  const head = line as Partial<BackupHeader>
  if (head.cartwright !== 'backup' || !Array.isArray(head.migrations) || typeof head.taken_at !== 'string')
    throw new InvalidBackupError('it does not begin like one')
  if (head.format !== 1)
    throw new OperatorError(`It has the format ${String(head.format)}, which is newer than this program.`)
  return head as BackupHeader
}
