import { existsSync } from 'node:fs'
import { type Config, findDataFolderBeforeModulesLoad, isConfigValidWithoutModuleKeys } from '../config.ts'
import type { AppliedMigrationsWithConnection } from '../platform/postgres/migrate.ts'

export type RunningDatabase = {
  url: string
  embedded: boolean
  /** The applied migrations, when `openEmbeddedDatabaseEarly` has started to read them. */
  migrations?: Promise<AppliedMigrationsWithConnection>
  stop(): Promise<void>
}

/**
 * Opens the configured database, or else the embedded one in the data folder. Mode `own` is for a server, which must be the
 * only process on its folder. Mode `attach` is for a command: it also uses the database of a running server. It waits at
 * most `attachMsMax` for a server that is still starting.
 */
export async function openConfiguredDatabase(
  config: Config,
  mode: 'own' | 'attach',
  attachMsMax?: number
): Promise<RunningDatabase> {
  if (config.database.url !== '') return { url: config.database.url, embedded: false, stop: async () => {} }
  return openEmbeddedDatabase(config.data, mode, attachMsMax === undefined ? {} : { attachMsMax })
}

/**
 * Starts opening the embedded database before the configuration is checked. The check needs every module, and loading their
 * code takes a third of the start. A new folder is created only when the configuration is already known to be valid, so
 * that an invalid one leaves no files. Returns undefined when it cannot start early.
 */
export function openEmbeddedDatabaseEarly(connectionsMax?: number): Promise<RunningDatabase> | undefined {
  const folder = findDataFolderBeforeModulesLoad()
  if (folder === undefined || !(existsSync(folder) || isConfigValidWithoutModuleKeys())) return undefined
  const opening = openEmbeddedDatabase(folder, 'own', connectionsMax === undefined ? {} : { connectionsMax })
  opening.catch(() => {})
  return opening
}

/** Connects early, because the first connection to a fresh server waits while it reads its catalog. */
export async function readMigrationsEarly(opening: Promise<RunningDatabase>): Promise<RunningDatabase> {
  const database = await opening
  const { readAppliedMigrations } = await import('../platform/postgres/migrate.ts')
  const migrations = readAppliedMigrations(database.url)
  migrations.catch(() => {})
  return { ...database, migrations }
}

export async function openEmbeddedDatabase(
  folder: string,
  mode: 'own' | 'attach',
  limits: { attachMsMax?: number; connectionsMax?: number } = {}
): Promise<RunningDatabase> {
  const { openEmbeddedPostgres } = await import('../embedded-postgres/open.ts')
  const report = (line: string) => process.stderr.write(`${line}\n`)
  const { url, stop } = await openEmbeddedPostgres({ folder, mode, report, ...limits })
  return { url, embedded: true, stop }
}
