import { standardModules as ofTheTemplate } from '../../src/app.ts'
import type { Module } from '../../src/module.ts'

const migrated = new Set<unknown>(ofTheTemplate)

/** Whether a database of `createTestDatabase` has all the migrations of these modules: a test may declare some of its own. */
export const isMigratedFor = (modules: readonly Module[] = ofTheTemplate): boolean =>
  modules.every(module => module.migrations === undefined || migrated.has(module))
