import { type Module, migrationSources } from '../module.ts'
import { type BackupReport, backUpDatabase, type ReportBackupProgress } from '../platform/backup/backup.ts'
import { restoreDatabase } from '../platform/backup/restore.ts'
import { version } from '../version.ts'
import { runCommandWithoutMigrating } from './with-shop.ts'

/** Writes the database to a file. The shop may run meanwhile. */
export const writeBackup = (
  modules: readonly Module[],
  file: string,
  { json }: { json: boolean }
): Promise<void> =>
  runCommandWithoutMigrating(modules, async ({ config, databaseUrl }) => {
    const report = await backUpDatabase(databaseUrl, file, { version, progress })
    say(report, json, `Backed up to ${file}, as it was at ${report.taken_at}`)
    if (!json && config.secrets.keys.length === 0)
      process.stdout.write(
        `The backup does not contain the secrets. Keep ${config.data}/secrets in another place.\n`
      )
  })

/** Restores a backup into an empty database. */
export const restoreBackup = (
  modules: readonly Module[],
  file: string,
  { json }: { json: boolean }
): Promise<void> =>
  runCommandWithoutMigrating(modules, async ({ databaseUrl }) => {
    const report = await restoreDatabase(databaseUrl, file, { modules: migrationSources(modules), progress })
    say(report, json, `Restored ${file}, as it was at ${report.taken_at}`)
  })

/** Prints progress to a terminal only, so that a scheduled backup prints its report alone. Standard output is for the report. */
const progress: ReportBackupProgress = (table, index, of) => {
  if (process.stderr.isTTY) process.stderr.write(`${index}/${of} ${table}\n`)
}

const say = (report: BackupReport, json: boolean, what: string) =>
  process.stdout.write(
    json ? `${JSON.stringify(report)}\n` : `${what}: ${report.rows} rows in ${report.tables} tables.\n`
  )
