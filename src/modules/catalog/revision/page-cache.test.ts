import { expect, test } from 'vitest'
import { useCatalog } from '../../../../test/support/catalog.ts'
import type { KeyValueCache } from '../../../platform/cache/cache.ts'
import { createCatalogPageCache, LIST_PREFIX } from './page-cache.ts'

/** Pages of a list in a cache whose clock is in the hands of the test. */
async function usePages() {
  const { platform } = await useCatalog()
  const entries = new Map<string, { value: string; until: number }>()
  const clock = { seconds: 0 }
  const cache = {
    get: async key => {
      const entry = entries.get(key)
      return entry !== undefined && clock.seconds < entry.until ? entry.value : undefined
    },
    set: async (key, value, ttl) => {
      entries.set(key, { value, until: clock.seconds + ttl })
    }
  } satisfies Partial<KeyValueCache>
  let change = () => {}
  const pages = createCatalogPageCache({
    db: platform.db,
    cache: cache as unknown as KeyValueCache,
    changes: {
      subscribe: ({ onChange }: { onChange(): void }) => {
        change = onChange
      },
      isLive: () => true
    } as never,
    lowestPrices: { repriceDue: async () => {} } as never,
    ttlSeconds: 60
  })
  const built: string[] = []
  const read = async (cursor: string | undefined, next: string | null) => {
    await pages({
      key: `${LIST_PREFIX}list`,
      cursor,
      make: async () => {
        built.push(cursor ?? 'first')
        return JSON.stringify({ items: [], next_cursor: next })
      }
    })
  }
  return { clock, built, read, entries, pages, change: () => change() }
}

test('a further page is built once in each period, also when the page before it expires first', async () => {
  const { clock, built, read } = await usePages()
  await read(undefined, 'b')
  for (; clock.seconds < 600; clock.seconds += 5) {
    await read('b', null)
    await read(undefined, 'b')
  }
  expect(built.filter(each => each === 'b')).toHaveLength(10)
})

test('pages with cursors that no cached page has returned leave nothing in the cache', async () => {
  const { built, read, entries } = await usePages()
  await read(undefined, 'b')
  const size = entries.size
  for (let each = 0; each < 50; each += 1) await read(`forged-${each}`, `next-${each}`)
  expect([entries.size, built.length]).toEqual([size, 51])
})

test('a page that was requested before a change and is sent after it is not for shared caches', async () => {
  const { pages, change } = await usePages()
  const make = async () => '{}'
  const unchanged = await pages({ key: null, make })
  expect(unchanged.changesInMs()).toBe(Infinity)
  change()
  expect(unchanged.changesInMs()).toBe(0)
  const changedMeanwhile = await pages({
    key: 'page',
    make: async () => {
      change()
      return '{}'
    }
  })
  expect(changedMeanwhile.changesInMs()).toBe(0)
})
