import { expect, test } from 'vitest'
import { createCategory, createDiscount, createProduct } from '../../../../test/support/catalog.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { type PricingApi, pricingModule } from '../../pricing/index.ts'
import { type CatalogApi, catalogModule } from '../index.ts'

/** A shop in dollars, with a market in pounds whose list has breaks, and one in euros that has no list. */
async function useMarkets() {
  const shop = await useShop({ modules: [pricingModule, catalogModule] })
  const admin = shop.as({ token: 'admin' })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(`/api/admin/${path}`, body)
    expect(status, text).toBe(201)
    return json
  }
  const market = (code: string, currency: string, price_list_id: string | null) =>
    made('markets', {
      code,
      name: code,
      countries: [],
      currency,
      price_list_id,
      prices_include_tax: false,
      locale: 'en'
    })
  const list = await made('price-lists', { name: 'Pounds', currency: 'GBP' })
  await market('uk', 'GBP', list.id)
  await market('eu', 'EUR', null)
  const catalog = shop.apiOf(catalogModule) as CatalogApi
  const { markets } = shop.apiOf(pricingModule) as PricingApi
  const setPrices = (prices: object[]) => admin.put(`/api/admin/price-lists/${list.id}/prices`, { prices })
  return { ...shop, admin, catalog, resolve: (name: string) => markets.resolve({ name }), setPrices }
}

test('a price quote has the prices of offers, in each market and by quantity', async () => {
  const shop = await useMarkets()
  const parent = await createCategory(shop, 'Kitchen')
  const category = await createCategory(shop, 'Cups', parent.id)
  const product = await createProduct(shop, {
    category_ids: [category.id],
    variants: [
      { sku: 'A', price: 2_000, sale_price: 1_500 },
      { sku: 'B', price: 2_000, currency: 'GBP' }
    ]
  })
  const [a, b] = product.variants.map(({ id }: { id: string }) => id)
  const target = { scope: 'product', target_id: product.id }
  await createDiscount(shop, { ...target, percentage_ppm: 100_000 })
  await createDiscount(shop, { ...target, amount: 700 })
  await shop.setPrices([
    { variant_id: a, price: 1_400 },
    { variant_id: a, from_quantity: 10, price: 1_000 },
    { variant_id: b, price: 900 }
  ])
  const inMarket = async (name: string, quantity: number) => {
    const wanted = [a, b].map(variantId => ({ variantId, quantity }))
    const market = await shop.resolve(name)
    const [quoted, offered] = await Promise.all([
      shop.catalog.quote(shop.db, wanted, market),
      shop.catalog.offers(wanted, market)
    ])
    const prices = offered.map(each => each && { minor: each.price, discountedMinor: each.discountedPrice })
    expect(quoted.map(each => each?.price)).toEqual(prices.map(each => each ?? null))
    return quoted[0]
  }
  const { categoryIds, price } = (await inMarket('default', 1)) ?? {}
  expect([categoryIds, price]).toEqual([
    [parent.id, category.id].sort(),
    { minor: 2_000, discountedMinor: 1_300 }
  ])
  expect((await inMarket('uk', 2))?.price).toEqual({ minor: 1_400, discountedMinor: 1_260 })
  expect((await inMarket('uk', 10))?.price).toEqual({ minor: 1_000, discountedMinor: 900 })
  expect(await inMarket('eu', 1)).toMatchObject({ price: null, isActive: true })
})

test('a price quote adds up the lines of a variant for its price breaks', async () => {
  const shop = await useMarkets()
  const { variants } = await createProduct(shop, { variants: ['A', 'B'].map(sku => ({ sku, price: 2_000 })) })
  const [a, b] = variants.map(({ id }: { id: string }) => id)
  await shop.setPrices([
    { variant_id: a, price: 1_400 },
    { variant_id: a, from_quantity: 10, price: 1_000 },
    { variant_id: b, price: 900 },
    { variant_id: b, from_quantity: 10, price: 700 }
  ])
  const wanted = [
    { variantId: a, quantity: 4 },
    { variantId: b, quantity: 9 },
    { variantId: a, quantity: 6 }
  ]
  const quoted = await shop.catalog.quote(shop.db, wanted, await shop.resolve('uk'))
  expect(quoted.map(each => each?.price?.minor)).toEqual([1_000, 900, 1_000])
})

test('a price quote reads the database in one statement, and ignores caches', async () => {
  const shop = await useMarkets()
  const { variants } = await createProduct(shop)
  const wanted = [{ variantId: variants[0].id as string, quantity: 1 }]
  const market = await shop.resolve('default')
  await shop.catalog.offers(wanted, market)
  await shop.sql('update catalog.variants set price_minor = 1 where id = $1', [variants[0].id])
  const { result, statements } = await shop.record(() =>
    shop.db.transaction(tx => shop.catalog.quote(tx, wanted, market))
  )
  expect(result[0]?.price?.minor).toBe(1)
  expect(statements).toEqual(['catalog.quote_variants'])
})
