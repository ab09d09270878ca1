import { expect, test } from 'vitest'
import { createProduct } from '../../../../test/support/catalog.ts'
import { useMarkets } from '../../../../test/support/markets.ts'
import { settled } from '../../../../test/support/settled.ts'

/** Statements that run once, or once per change of the catalog. */
const SHARED = ['catalog.find_revision', 'pricing.list_markets']
const isOwn = (name: string) => /^(?:catalog|pricing)\./.test(name) && !SHARED.includes(name)

/** Products with three variants each, all in the price list of a market, after all jobs are done. */
async function useSettled(products: number) {
  const shop = await useMarkets()
  const list = await shop.createList('GBP')
  await shop.createMarket('uk', 'GBP', list)
  const made = []
  for (let each = 0; each < products; each += 1) {
    const variants = [1, 2, 3].map(at => ({ sku: `S-${each}-${at}`, price: 1_000 }))
    made.push(await createProduct(shop, { name: `Mug ${each}`, variants }))
  }
  const variantIds = made.flatMap(({ variants }) => variants.map(({ id }: { id: string }) => id)) as string[]
  await shop.setPrices(list, ...variantIds.map(variant_id => ({ variant_id, price: 900 })))
  await settled(shop)
  return { ...shop, list, variantIds, productIds: made.map(({ id }) => id as string) }
}

test('a product list in a market takes one statement, its total another, and none when cached', async () => {
  const { request, record } = await useSettled(3)
  const sent = async (query: string) => {
    const headers = { 'x-market': 'uk' }
    return (await record(() => request('GET', `/api/products?${query}`, { headers }))).statements.filter(
      isOwn
    )
  }
  expect(await sent('sort=name')).toEqual(['catalog.list_products_by_name_in_list'])
  expect(await sent('sort=name')).toEqual([])
  expect(await sent('sort=price&count=true')).toEqual([
    'catalog.list_products_by_price_in_list',
    'catalog.count_listed_products_in_list'
  ])
})

test('a product page in a market with a price list takes three statements, and none when cached', async () => {
  const { request, record, productIds } = await useSettled(1)
  const sent = async () =>
    (await record(() => request('GET', `/api/products/${productIds[0]}?market=uk`))).statements.filter(isOwn)
  expect(await sent()).toEqual(['catalog.find_active_product', 'pricing.list_chains', 'pricing.list_breaks'])
  expect(await sent()).toEqual([])
})

test('changed list prices of products are applied with the same number of statements for any number of prices', async () => {
  const shop = await useSettled(20)
  const sent = async (variantIds: readonly string[], price: number) => {
    const { statements, background } = await shop.record(async () => {
      await shop.setPrices(shop.list, ...variantIds.map(variant_id => ({ variant_id, price })))
      await settled(shop)
    })
    return [...statements, ...background].filter(isOwn)
  }
  const ofOne = await sent(shop.variantIds.slice(0, 1), 800)
  expect(ofOne).toContain('catalog.put_list_prices')
  expect(await sent(shop.variantIds, 700)).toEqual(ofOne)
  const prices = await shop.listed('uk', 'limit=100&sort=price')
  expect(prices.map(([, price]) => price)).toEqual(Array.from({ length: 20 }, () => 700))
})
