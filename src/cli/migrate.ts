import { modules } from '../app.ts'
import { loadConfig } from '../config.ts'
import { migrationSources } from '../module.ts'
import { migrate } from '../platform/postgres/migrate.ts'
import { openConfiguredDatabase } from './database.ts'

export async function runMigrations(): Promise<void> {
  const database = await openConfiguredDatabase(loadConfig(modules), 'attach')
  try {
    const applied = await migrate(database.url, migrationSources(modules))
    process.stdout.write(
      applied.length === 0 ? 'The database is up to date.\n' : `Applied:\n  ${applied.join('\n  ')}\n`
    )
  } finally {
    await database.stop()
  }
}
