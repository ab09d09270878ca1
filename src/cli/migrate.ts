import { type Module, migrationSources } from '../module.ts'
import { migrationStatus } from '../platform/postgres/migrate.ts'
import { runCommandAfterMigrating, runCommandWithoutMigrating } from './with-shop.ts'

type Options = { dryRun: boolean; json: boolean }

/** Applies pending migrations, or lists them with `dryRun`. */
export const runMigrations = (modules: readonly Module[], { dryRun, json }: Options): Promise<void> =>
  dryRun
    ? printStatus(modules, { json })
    : runCommandAfterMigrating(modules, async ({ applied }) => {
        const text = applied.length === 0 ? 'The database is up to date.\n' : listed('Applied', applied)
        process.stdout.write(json ? `${JSON.stringify({ applied })}\n` : text)
      })

/** Prints pending migrations. Changes nothing. */
const printStatus = (modules: readonly Module[], { json }: { json: boolean }): Promise<void> =>
  runCommandWithoutMigrating(modules, async ({ databaseUrl }) => {
    const { applied, pending } = await migrationStatus(databaseUrl, migrationSources(modules))
    const text = pending.length === 0 ? 'The database is up to date.\n' : listed('A start applies', pending)
    process.stdout.write(json ? `${JSON.stringify({ applied, pending })}\n` : text)
  })

const listed = (what: string, names: readonly string[]) => `${what}:\n  ${names.join('\n  ')}\n`
