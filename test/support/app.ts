import type { Module } from '../../src/module.ts'
import {
  openTestShop,
  type RequestOptions,
  send,
  type TestResponse,
  type TestShop
} from '../../src/testing.ts'
import { createTestDatabase, useTestDatabaseUrl } from './database.ts'
import { isMigratedFor } from './migrated.ts'
import { openShared } from './shared-shops.ts'

export { type RequestOptions, send, type TestResponse }
export type TestApp = TestShop

/**
 * The whole application, one process of it, on a database of its own; several share one when `databaseUrl` is handed
 * on. It has to be closed. `settings` are environment variables; `modules` the modules, switched on and off.
 */
export async function createTestApp(
  settings: Record<string, string> = {},
  databaseUrl?: string,
  modules?: readonly Module[]
): Promise<TestApp> {
  const created =
    databaseUrl === undefined ? await createTestDatabase() : { url: databaseUrl, drop: async () => {} }
  try {
    const shop = await openTestShop({
      databaseUrl: created.url,
      isMigrated: isMigratedFor(modules),
      runsSchedulesAtStart: false,
      settings: { CARTWRIGHT__LOG__LEVEL: 'silent', ...settings },
      ...(modules && { modules })
    })
    return {
      ...shop,
      close: async () => {
        await shop.close()
        await created.drop()
      }
    }
  } catch (error) {
    await created.drop()
    throw error
  }
}

/**
 * The whole application for one test. Tests of a file that calls `shareShops` share one database, and those with the same
 * settings one application.
 */
export async function useTestApp(settings: Record<string, string> = {}): Promise<TestApp> {
  const databaseUrl = await useTestDatabaseUrl()
  return openShared(['application', settings], async onFinished => {
    const app = await createTestApp(settings, databaseUrl)
    onFinished(app.close)
    return app
  })
}
