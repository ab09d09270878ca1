import type { Module } from '../../src/module.ts'
import {
  openTestShop,
  type RequestOptions,
  send,
  type TestResponse,
  type TestShop
} from '../../src/testing.ts'
import { createTestDatabase } from './database.ts'
import { isMigratedFor } from './migrated.ts'

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
