import { onTestFinished } from 'vitest'
import { openTestShop, type TestShop, type TestShopOptions } from '../../src/testing.ts'
import { createTestDatabase } from './database.ts'
import { wrongEventVersionsOf } from './event-versions.ts'
import { isMigratedFor } from './migrated.ts'

type Options<Apis> = Omit<TestShopOptions<Apis>, 'databaseUrl'> & { databaseUrl?: string | undefined }

/** A shop for one test, on a database of its own unless one is handed on; closed and dropped when the test has finished. */
export async function useShop<Apis extends Record<string, object> = Record<string, never>>(
  options: Options<Apis> = {}
): Promise<TestShop<Apis>> {
  const databaseUrl = options.databaseUrl ?? (await useDatabaseUrl())
  const shop = await openTestShop({
    isMigrated: isMigratedFor(options.modules),
    runsSchedulesAtStart: false,
    ...options,
    databaseUrl
  })
  onTestFinished(async ({ task }) => {
    const wrong = task.result?.state === 'fail' ? [] : await wrongEventVersionsOf(shop, options.modules)
    await shop.close()
    if (wrong.length > 0) throw new Error(`events have a wrong version: ${JSON.stringify(wrong)}`)
  })
  return shop
}

/** A migrated, empty database for one test. */
async function useDatabaseUrl(): Promise<string> {
  const created = await createTestDatabase()
  onTestFinished(() => created.drop())
  return created.url
}
