import { expect, test } from 'vitest'
import { createCategory, createDiscount, createProduct } from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { useMarkets } from '../../../../test/support/markets.ts'
import { settled } from '../../../../test/support/settled.ts'
import { newId } from '../../../kernel/ids.ts'

const soon = (expectation: () => Promise<void>) => eventually(expectation)

/** A product of one variant, and a market in pounds that has it in its list. */
async function usePounds() {
  const shop = await useMarkets()
  const product = await createProduct(shop, { name: 'Mug', variants: [{ sku: 'MUG', price: 1_000 }] })
  const parent = await shop.createList('GBP')
  const list = await shop.createList('GBP', { parent_id: parent })
  const variant_id = product.variants[0].id as string
  await shop.setPrices(parent, { variant_id, price: 900 })
  const market = await shop.createMarket('uk', 'GBP', list)
  const expectPrice = (price: number | null) =>
    soon(async () => {
      expect(await shop.listed('uk', 'sort=name')).toEqual([['Mug', price]])
      expect(await shop.onPage('uk', product.id)).toEqual(price === null ? [] : [price])
    })
  await expectPrice(900)
  return { ...shop, product, variant_id, parent, list, market, expectPrice }
}

test("product lists and pages show changes of the market's price list and of its parents, and each emits catalog.changed", async () => {
  const shop = await usePounds()
  const { admin, setPrices, createList, expectPrice, variant_id, parent, list, market } = shop
  const events = async () =>
    (await shop.sql(`select from cartwright.events where name = 'catalog.changed'`)).length
  const before = await events()
  await setPrices(list, { variant_id, price: 850 })
  await expectPrice(850)
  expect(await events()).toBe(before + 1)
  await admin.delete(`/api/admin/price-lists/${list}/prices/${variant_id}`)
  await expectPrice(900)
  await setPrices(parent, { variant_id, price: 800 })
  await expectPrice(800)
  await admin.patch(`/api/admin/price-lists/${list}`, { adjustment_ppm: 100_000 })
  await expectPrice(880)
  const other = await createList('GBP')
  await setPrices(other, { variant_id, price: 5 })
  await admin.patch(`/api/admin/markets/${market.id}`, { price_list_id: other })
  await expectPrice(5)
  await admin.delete(`/api/admin/price-lists/${other}/prices/${variant_id}`)
  await expectPrice(null)
})

test('product lists of a market show a change of a product immediately', async () => {
  const shop = await usePounds()
  const { admin, setPrices, listed, product, list } = shop
  const other = newId()
  await setPrices(list, { variant_id: other, price: 1 })
  const category = await createCategory(shop, 'Cups')
  const path = `/api/catalog/products/${product.id}`
  await admin.patch(path, { category_ids: [category.id] })
  await createDiscount(shop, { scope: 'category', target_id: category.id, percentage_ppm: 500_000 })
  expect(await listed('uk')).toEqual([['Mug', 450]])
  await admin.patch(`/api/catalog/variants/${product.variants[0].id}`, { active: false })
  expect(await listed('uk')).toEqual([])
  await admin.patch(`/api/catalog/variants/${product.variants[0].id}`, { active: true })
  expect(await listed('uk')).toEqual([['Mug', 450]])
  await admin.delete(path)
  expect(await listed('uk', 'sort=name')).toEqual([])
  expect(await shop.sql('select from catalog.list_prices')).toEqual([])
})

test("product lists of a market show changes of the catalog's own prices", async () => {
  const shop = await useMarkets()
  const { admin, listed, createMarket, createList } = shop
  await createMarket('us', 'USD', await createList('USD'))
  const product = await createProduct(shop, { name: 'Mug', variants: [{ sku: 'MUG', price: 1_000 }] })
  expect(await listed('us')).toEqual([['Mug', 1_000]])
  await admin.patch(`/api/catalog/variants/${product.variants[0].id}`, { price: 1_200, sale_price: 1_100 })
  expect(await listed('us')).toEqual([['Mug', 1_100]])
})

test('an import of very many prices emits one event, and its products are repriced in chunks', async () => {
  const shop = await usePounds()
  for (const cup of ['Cup', 'Bowl', 'Jug'])
    await createProduct(shop, { name: cup, variants: [{ sku: cup, price: 1_000 }] })
  await settled(shop)
  const sold = await shop.sql(`select id from catalog.variants where sku <> 'MUG' order by sku`)
  // These variants have no product, and are too many to be listed in an event.
  const ids = [...sold.map(({ id }) => id as string), ...Array.from({ length: 2_500 }, newId)]
  const file = `variant_id,price\n${ids.map(id => `${id},5.50`).join('\n')}`
  const { statements, background } = await shop.record(async () => {
    await shop.importPrices(shop.list, file)
    await settled(shop)
  })
  const others = (await shop.listed('uk')).filter(([name]) => name !== 'Mug')
  expect(others.map(([, price]) => price)).toEqual([550, 550, 550])
  // Waits for the event, for the job that it enqueued, and for `catalog.changed` of the changed chunk.
  const insertsIn = (sent: readonly string[]) => sent.filter(name => /^outbox\.insert_/.test(name)).length
  expect([insertsIn(statements), insertsIn(background)]).toEqual([1, 2])
})

test('changed prices of unknown variants, or in price lists without a market, reprice no product', async () => {
  const { setPrices, createList, listed, sql } = await usePounds()
  const unused = await createList('GBP')
  const revision = () => sql('select value from catalog.revision')
  const before = await revision()
  await setPrices(unused, { variant_id: newId(), price: 1 })
  await soon(async () =>
    expect(await sql(`select from cartwright.jobs where handler like 'catalog:%'`)).toEqual([])
  )
  expect(await revision()).toEqual(before)
  expect(await listed('uk')).toEqual([['Mug', 900]])
})
