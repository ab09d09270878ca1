import type { Module } from '../module.ts'
import { withDatabase } from './with-shop.ts'

export const runMigrations = (modules: readonly Module[]): Promise<void> =>
  withDatabase(modules, async ({ applied }) => {
    process.stdout.write(
      applied.length === 0 ? 'The database is up to date.\n' : `Applied:\n  ${applied.join('\n  ')}\n`
    )
  })
