import { withDatabase } from './with-shop.ts'

export const runMigrations = (): Promise<void> =>
  withDatabase(async ({ applied }) => {
    process.stdout.write(
      applied.length === 0 ? 'The database is up to date.\n' : `Applied:\n  ${applied.join('\n  ')}\n`
    )
  })
