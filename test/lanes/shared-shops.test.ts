import { afterAll, expect, test } from 'vitest'
import { needsOwnShop, openShared, shareShops } from '../support/shared-shops.ts'

const closed: object[] = []
let shared: object | undefined
// Runs after that of `shareShops`, because the first registered runs last.
afterAll(() => expect(closed).toContain(shared))
shareShops()

const open = (key: readonly unknown[] | undefined) =>
  openShared(key, async onFinished => {
    const shop = {}
    onFinished(() => closed.push(shop))
    return shop
  })

test.each([1, 2, 3])(
  'tests of a file that shares its shops use one for equal options, here the %i.',
  async () => {
    const shop = await open(['shop', { currency: 'EUR' }])
    shared ??= shop
    expect(shop).toBe(shared)
    expect(await open(['shop', { currency: 'USD' }])).not.toBe(shop)
    expect(await open(undefined)).not.toBe(await open(undefined))
    expect(closed).not.toContain(shop)
  }
)

test('a test that needs its own shop shares none', async () => {
  needsOwnShop()
  const key = ['shop', { currency: 'EUR' }]
  expect(await open(key)).not.toBe(await open(key))
  expect(shared).not.toBe(await open(key))
})

test('the tests of a file that shares its shops run in random order', ({ task }) => {
  expect(task.file.shuffle).toBe(true)
})
