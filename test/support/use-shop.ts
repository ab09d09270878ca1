import { openTestShop, type TestShop, type TestShopOptions } from '../../src/testing.ts'
import { createTestDatabase } from './database.ts'
import { wrongEventVersionsOf } from './event-versions.ts'
import { isMigratedFor } from './migrated.ts'
import { type OnFinished, openShared } from './shared-shops.ts'

type Options<Apis> = Omit<TestShopOptions<Apis>, 'databaseUrl' | 'instead'> & {
  databaseUrl?: string | undefined
  /** Fake APIs, or what creates them. A shop whose fake APIs are created can be shared: `shop.instead` has them. */
  instead?: Apis | (() => Apis)
}

/**
 * A shop for one test, on a database of its own unless one is handed on; closed and dropped when the test has finished. Tests
 * of a file that calls `shareShops` share it, unless fake APIs are handed on. What is shared already and consists of a shop
 * hands on its `onFinished`.
 */
export async function useShop<Apis extends Record<string, object> = Record<string, never>>(
  options: Options<Apis> = {},
  onFinished?: OnFinished
): Promise<TestShop<Apis>> {
  const { modules, settings = {}, instead = {} as Apis, runsSchedulesAtStart = false } = options
  const hasFakes = typeof instead === 'object' && Object.keys(instead).length > 0
  const isShared = options.databaseUrl === undefined && !hasFakes
  const key = isShared ? ['shop', modules, settings, instead, runsSchedulesAtStart] : undefined
  const open = async (onFinished: OnFinished) => {
    const created =
      options.databaseUrl === undefined ? await createTestDatabase() : { url: options.databaseUrl }
    if ('drop' in created) onFinished(created.drop)
    const shop = await openTestShop({
      isMigrated: isMigratedFor(modules),
      runsSchedulesAtStart,
      ...options,
      instead: typeof instead === 'function' ? instead() : instead,
      databaseUrl: created.url
    })
    onFinished(async context => {
      const wrong = context?.task.result?.state === 'fail' ? [] : await wrongEventVersionsOf(shop, modules)
      await shop.close()
      if (wrong.length > 0) throw new Error(`events have a wrong version: ${JSON.stringify(wrong)}`)
    })
    return shop
  }
  return onFinished === undefined ? openShared(key, open) : open(onFinished)
}
