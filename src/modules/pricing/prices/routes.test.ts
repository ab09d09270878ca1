import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import type { PricingApi } from '../index.ts'

shareShops()

const LISTS = '/api/admin/price-lists'

async function usePrices() {
  const shop = await usePricing()
  const createList = async (fields: object = {}) =>
    (await shop.admin.post(LISTS, { name: 'List', currency: 'EUR', ...fields })).json.id as string
  const put = (listId: string, ...prices: object[]) => shop.admin.put(`${LISTS}/${listId}/prices`, { prices })
  return { ...shop, createList, put }
}
/** What one costs when 1, 2 and 10 are bought. */
const pricesOf = ({ prices }: PricingApi, priceListId: string | null, variantId: string) =>
  prices(
    [1, 2, 10].map(quantity => ({ variantId, quantity })),
    { priceListId }
  )
const priceOf = async (pricing: PricingApi, priceListId: string, variantId: string) =>
  (await pricesOf(pricing, priceListId, variantId))[0]
const NO_PRICES = [undefined, undefined, undefined]

test('prices are set in bulk, listed by variant and quantity, filtered and deleted', async () => {
  const { admin, createList, put } = await usePrices()
  const list = await createList()
  const [mug, cup] = [newId(), newId()].sort() as [string, string]
  const prices = [
    { variant_id: cup, price: 500 },
    { variant_id: mug, from_quantity: 10, price: 0 },
    { variant_id: mug.toUpperCase(), price: 1_000 }
  ]
  expect((await put(list, ...prices)).status).toBe(204)
  await put(list, { variant_id: cup, price: 450 })
  const path = `${LISTS}/${list}/prices`
  const { json } = await admin.get(`${path}?count=true&limit=2`)
  expect(json).toMatchObject({
    total: 3,
    items: [
      { variant_id: mug, from_quantity: 1, price: 1_000 },
      { variant_id: mug, from_quantity: 10, price: 0 }
    ]
  })
  const next = (await admin.get(`${path}?cursor=${json.next_cursor}`)).json
  expect(next).toEqual({ items: [{ variant_id: cup, from_quantity: 1, price: 450 }], next_cursor: null })
  const ofMug = (await admin.get(`${path}?count=true&limit=1&variant_id=${mug}`)).json
  expect([ofMug.total, ofMug.items[0].from_quantity]).toEqual([2, 1])
  const rest = (await admin.get(`${path}?variant_id=${mug}&cursor=${ofMug.next_cursor}`)).json
  expect(rest.items).toMatchObject([{ from_quantity: 10 }])

  expect((await admin.delete(`${path}/${mug}?from_quantity=10`)).status).toBe(204)
  expect((await admin.delete(`${path}/${mug}?from_quantity=10`)).json.code).toBe('PRICING_PRICE_NOT_FOUND')
  expect((await admin.delete(`${path}/${mug}`)).status).toBe(204)
  expect((await admin.get(`${path}?count=true`)).json.total).toBe(1)
  expect((await admin.delete(`${LISTS}/${list}`)).status).toBe(204)
  expect((await admin.get(path)).json.code).toBe('PRICING_PRICE_LIST_NOT_FOUND')
  expect((await put(list, ...prices)).json.code).toBe('PRICING_PRICE_LIST_NOT_FOUND')
})

test.each<[string, string, object[]]>([
  ['a price twice', 'PRICING_PRICE_TWICE', [{ price: 1 }, { price: 2 }]],
  ['no price', 'VALIDATION_FAILED', []],
  ['a price below nothing', 'VALIDATION_FAILED', [{ price: -1 }]],
  ['a price from nothing on', 'VALIDATION_FAILED', [{ price: 1, from_quantity: 0 }]],
  [
    'too many quantities',
    'PRICING_BREAK_LIMIT',
    Array.from({ length: 21 }, (_, n) => ({ from_quantity: n + 1, price: 9 }))
  ]
])(
  '%s in a request that sets prices is rejected, and no price of the request is set',
  async (_what, code, wrong) => {
    const { admin, createList, put } = await usePrices()
    const list = await createList()
    const variant_id = newId()
    const others = wrong.length === 0 ? [] : [{ variant_id: newId(), price: 100 }]
    const { json } = await put(list, ...others, ...wrong.map(each => ({ variant_id, ...each })))
    expect(json.code).toBe(code)
    expect((await admin.get(`${LISTS}/${list}/prices?count=true`)).json.total).toBe(0)
  }
)

test('one request sets a thousand prices', async () => {
  const { admin, createList, put } = await usePrices()
  const list = await createList()
  const prices = Array.from({ length: 1_000 }, () => ({ variant_id: newId(), price: 5 }))
  expect((await put(list, ...prices)).status).toBe(204)
  expect((await admin.get(`${LISTS}/${list}/prices?count=true`)).json.total).toBe(1_000)
  expect((await put(list, ...prices, { variant_id: newId(), price: 1 })).status).toBe(400)
})

test('a variant inherits prices from the nearest parent price list, with all adjustments', async () => {
  const { pricing, createList, put } = await usePrices()
  const top = await createList()
  const middle = await createList({ parent_id: top, adjustment_ppm: -100_000 })
  const bottom = await createList({ parent_id: middle, adjustment_ppm: 200_000 })
  const [mug, cup] = [newId(), newId()]
  await put(top, { variant_id: mug, price: 1_005 }, { variant_id: mug, from_quantity: 10, price: 800 })
  await put(middle, { variant_id: cup, from_quantity: 2, price: 300 })
  await put(top, { variant_id: cup, price: 999 })
  expect(await pricesOf(pricing, top, mug)).toEqual([1_005, 1_005, 800])
  expect(await pricesOf(pricing, middle, mug)).toEqual([905, 905, 720]) // 904.5
  expect(await pricesOf(pricing, bottom, mug)).toEqual([1_086, 1_086, 864])
  expect(await pricesOf(pricing, bottom, cup)).toEqual([undefined, 360, 360])
  expect(await pricesOf(pricing, top, newId())).toEqual(NO_PRICES)
  expect(await pricesOf(pricing, null, mug)).toEqual(NO_PRICES)
  expect(await pricesOf(pricing, newId(), mug)).toEqual(NO_PRICES)
})

test('missing prices are read in one statement, and cached ones in none', async () => {
  const { pricing, createList, put, record } = await usePrices()
  const top = await createList()
  const list = await createList({ parent_id: top })
  const ids = Array.from({ length: 5 }, newId)
  await put(top, ...ids.slice(1).map(variant_id => ({ variant_id, price: 7 })))
  const wanted = ids.map(variantId => ({ variantId, quantity: 1 }))
  const sentFor = async (quantities: typeof wanted, ...lists: string[]) => {
    const read = async () => {
      for (const priceListId of lists) await pricing.prices(quantities, { priceListId })
    }
    return (await record(read)).statements
  }
  // The broadcast of the change above also returns to this process and may clear its cache again.
  const sentForMore = () => sentFor([...wanted, { variantId: newId(), quantity: 1 }], list)
  await expect.poll(sentForMore, { interval: 20 }).toEqual(['pricing.list_breaks'])
  await expect.poll(() => sentFor(wanted, list, top), { interval: 20 }).toEqual([])
})

test('a changed price or price list is visible here immediately, and in other processes within a second', async () => {
  const { pricing, admin, createList, put, databaseUrl } = await usePrices()
  const other = await usePricing({ databaseUrl })
  const top = await createList()
  const list = await createList({ parent_id: top })
  const mug = newId()
  const both = async () => [await priceOf(pricing, list, mug), await priceOf(other.pricing, list, mug)]
  expect(await both()).toEqual([undefined, undefined])
  await put(top, { variant_id: mug, price: 100 })
  expect(await priceOf(pricing, list, mug)).toBe(100)
  await expect.poll(both, { interval: 20 }).toEqual([100, 100])
  await admin.patch(`${LISTS}/${list}`, { adjustment_ppm: 500_000 })
  expect(await priceOf(pricing, list, mug)).toBe(150)
  await expect.poll(both, { interval: 20 }).toEqual([150, 150])
  await admin.delete(`${LISTS}/${top}/prices/${mug}`)
  await expect.poll(both, { interval: 20 }).toEqual([undefined, undefined])
})
