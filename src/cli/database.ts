import { existsSync } from 'node:fs'
import { type Config, isRightWithoutModules, peekDataFolder } from '../config.ts'
import type { MigrationsFound } from '../platform/postgres/migrate.ts'

export type OpenedDatabase = {
  url: string
  embedded: boolean
  /** What is migrated, where it was looked at early. */
  migrations?: Promise<MigrationsFound>
  stop(): Promise<void>
}

/**
 * The database that the configuration names, or the embedded one of the data folder. A server ('own') must be the
 * only one on its folder; a command ('attach') may use the database of a server that is running, and waits for one that
 * starts, at most `attachMsMax`.
 */
export async function openConfiguredDatabase(
  config: Config,
  mode: 'own' | 'attach',
  attachMsMax?: number
): Promise<OpenedDatabase> {
  if (config.database.url !== '') return { url: config.database.url, embedded: false, stop: async () => {} }
  return openEmbedded(config.data, mode, attachMsMax)
}

/**
 * Opens the embedded database before the configuration is checked, which needs every module: a third of a start is
 * loading code, and this happens meanwhile. A new folder is made only where the check can find nothing any more, so
 * that a wrong configuration leaves nothing behind.
 */
export function openDatabaseEarly(): Promise<OpenedDatabase> | undefined {
  const folder = peekDataFolder()
  if (folder === undefined || !(existsSync(folder) || isRightWithoutModules())) return undefined
  const opening = openEmbedded(folder, 'own').then(lookAtMigrations)
  opening.catch(() => {})
  return opening
}

/** Whoever is the first to connect to a server that has just started waits while it reads its own tables. */
async function lookAtMigrations(database: OpenedDatabase): Promise<OpenedDatabase> {
  const { findMigrations } = await import('../platform/postgres/migrate.ts')
  const migrations = findMigrations(database.url)
  migrations.catch(() => {})
  return { ...database, migrations }
}

async function openEmbedded(
  folder: string,
  mode: 'own' | 'attach',
  attachMsMax?: number
): Promise<OpenedDatabase> {
  const { openEmbeddedPostgres } = await import('../platform/embedded-postgres/open.ts')
  const report = (line: string) => process.stderr.write(`${line}\n`)
  const { url, stop } = await openEmbeddedPostgres({
    folder,
    mode,
    report,
    ...(attachMsMax !== undefined && { attachMsMax })
  })
  return { url, embedded: true, stop }
}
