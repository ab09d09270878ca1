import { type Module, migrationSources } from '../module.ts'
import { type BackupReport, backUp, type Progress } from '../platform/backup/backup.ts'
import { restore } from '../platform/backup/restore.ts'
import { version } from '../version.ts'
import { onDatabase } from './with-shop.ts'

/** Writes the database into a file, while the shop goes on. */
export const writeBackup = (
  modules: readonly Module[],
  file: string,
  { json }: { json: boolean }
): Promise<void> =>
  onDatabase(modules, async ({ config, databaseUrl }) => {
    const report = await backUp(databaseUrl, file, { version, progress })
    say(report, json, `Backed up to ${file}, as it was at ${report.taken_at}`)
    if (!json && config.secrets.keys.length === 0)
      process.stdout.write(`The secrets are not in it: keep ${config.data}/secrets, and apart from it.\n`)
  })

/** Fills an empty database with what a backup holds. */
export const restoreBackup = (
  modules: readonly Module[],
  file: string,
  { json }: { json: boolean }
): Promise<void> =>
  onDatabase(modules, async ({ databaseUrl }) => {
    const report = await restore(databaseUrl, file, { modules: migrationSources(modules), progress })
    say(report, json, `Restored ${file}, as it was at ${report.taken_at}`)
  })

/** For a person who waits; a scheduled backup prints its report alone. Standard output belongs to the report. */
const progress: Progress = (table, index, of) => {
  if (process.stderr.isTTY) process.stderr.write(`${index}/${of} ${table}\n`)
}

const say = (report: BackupReport, json: boolean, what: string) =>
  process.stdout.write(
    json ? `${JSON.stringify(report)}\n` : `${what}: ${report.rows} rows in ${report.tables} tables.\n`
  )
