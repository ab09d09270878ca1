import { openTestShop, type TestShop, type TestShopOptions } from '../../src/testing.ts'
import { createTestDatabase } from './database.ts'
import { wrongEventVersionsOf } from './event-versions.ts'
import { isMigratedFor } from './migrated.ts'
import { openShared } from './shared-shops.ts'

type Options<Apis> = Omit<TestShopOptions<Apis>, 'databaseUrl'> & { databaseUrl?: string | undefined }

/**
 * A shop for one test, on a database of its own unless one is handed on; closed and dropped when the test has finished. Tests
 * of a file that calls `shareShops` share those without fake APIs.
 */
export async function useShop<Apis extends Record<string, object> = Record<string, never>>(
  options: Options<Apis> = {}
): Promise<TestShop<Apis>> {
  const { modules, settings = {}, runsSchedulesAtStart = false } = options
  const isShared = options.databaseUrl === undefined && Object.keys(options.instead ?? {}).length === 0
  const key = isShared ? ['shop', modules, settings, runsSchedulesAtStart] : undefined
  return openShared(key, async onFinished => {
    const created =
      options.databaseUrl === undefined ? await createTestDatabase() : { url: options.databaseUrl }
    if ('drop' in created) onFinished(created.drop)
    const shop = await openTestShop({
      isMigrated: isMigratedFor(modules),
      runsSchedulesAtStart,
      ...options,
      databaseUrl: created.url
    })
    onFinished(async context => {
      const wrong = context?.task.result?.state === 'fail' ? [] : await wrongEventVersionsOf(shop, modules)
      await shop.close()
      if (wrong.length > 0) throw new Error(`events have a wrong version: ${JSON.stringify(wrong)}`)
    })
    return shop
  })
}
