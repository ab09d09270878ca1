import { describe, expect, test } from 'vitest'
import { createProduct, oneOfEach, useCatalog } from '../../../test/support/catalog.ts'
import { needsOwnShop, shareShops } from '../../../test/support/shared-shops.ts'
import { transactionsInMemory } from '../../../test/support/transactions-in-memory.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { cartModule } from '../cart/index.ts'
import { type FakeProduct, fakeCatalog } from './fake.ts'
import { type CatalogApi, catalogModule } from './index.ts'

shareShops()

type Subject = {
  catalog: CatalogApi
  db: Database
  sell(product: FakeProduct): Promise<string>
  withdraw(variantId: string): Promise<unknown>
}

async function useReal(): Promise<Subject> {
  const shop = await useCatalog()
  const { catalog } = shop
  return {
    catalog,
    db: shop.db,
    sell: async ({
      name = 'Mug',
      price = 1_250,
      discountedPrice = price,
      attributes = { color: 'blue' },
      rule,
      weightGrams = null,
      requiresShipping = true,
      taxCategory = null
    }) => {
      const sale_price = discountedPrice === price ? null : discountedPrice
      const { min = 1, max = null, step = 1 } = rule ?? {}
      const quantities = { quantity_min: min, quantity_max: max, quantity_step: step }
      const parcel = {
        weight_grams: weightGrams,
        requires_shipping: requiresShipping,
        tax_category: taxCategory
      }
      const variants = [{ sku: newId(), price, sale_price, attributes, ...quantities, ...parcel }]
      return (await createProduct(shop, { name, variants })).variants[0].id
    },
    withdraw: id =>
      shop.request('PATCH', `/api/catalog/variants/${id}`, { token: 'admin', body: { active: false } })
  }
}

async function useFake(): Promise<Subject> {
  const catalog = fakeCatalog()
  return {
    catalog,
    db: transactionsInMemory,
    sell: async product => catalog.sell(product),
    withdraw: async id => catalog.withdraw(id)
  }
}

/** The contract of the catalog for other modules. The fake is tested with it, too. */
describe.each([
  ['the catalog', useReal],
  ['its fake', useFake]
])('%s', (_what, use) => {
  test('the catalog returns offers in the order of the ids, with the fields of a cart line', async () => {
    const { catalog, sell } = await use()
    const id = await sell({ name: 'Cup', price: 900, discountedPrice: 700, attributes: { size: 'L' } })
    const other = await sell({})
    const [second, none, first] = await catalog.offers(oneOfEach([other, newId(), id]), null)
    expect([none, second?.variantId, second?.discountedPrice]).toEqual([undefined, other, second?.price])
    const { json = '', ...fields } = first ?? {}
    const rule = { min: 1, max: null, step: 1 }
    expect(fields).toEqual({
      variantId: id,
      price: 900,
      discountedPrice: 700,
      currency: 'USD',
      rule,
      weightGrams: 0,
      requiresShipping: true
    })
    const described = JSON.parse(`{${json}}`)
    expect(described).toEqual({
      variant_id: id,
      product_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      name: 'Cup',
      variant_name: 'L',
      slug: expect.stringMatching(/./),
      sku: expect.stringMatching(/./),
      price: 900,
      discounted_price: 700,
      image_url: null,
      attributes: { size: 'L' }
    })
  })

  test("the catalog's offers contain the quantity rule of a variant", async () => {
    const { catalog, sell } = await use()
    const rule = { min: 12, max: 36, step: 6 }
    const [offer] = await catalog.offers(oneOfEach([await sell({ rule })]), null)
    expect(offer?.rule).toEqual(rule)
  })

  test("the catalog's offers contain the weight of a variant, and whether it requires shipping", async () => {
    const { catalog, sell } = await use()
    const ids = [await sell({ weightGrams: 300 }), await sell({ requiresShipping: false })]
    const offers = await catalog.offers(oneOfEach(ids), null)
    expect(offers.map(offer => [offer?.weightGrams, offer?.requiresShipping])).toEqual([
      [300, true],
      [0, false]
    ])
  })

  test('the catalog quotes variants with their price and order data, also those that are not for sale', async () => {
    const { catalog, db, sell, withdraw } = await use()
    const rule = { min: 2, max: 8, step: 2 }
    const id = await sell({
      name: 'Cup',
      price: 900,
      discountedPrice: 700,
      attributes: { size: 'L' },
      rule,
      weightGrams: 300,
      requiresShipping: false,
      taxCategory: 'food'
    })
    const other = await sell({ attributes: {} })
    const quoted = () => catalog.quote(db, oneOfEach([other, newId(), id]), null)
    const [second, none, first] = await quoted()
    expect([second?.variantId, second?.variantName]).toEqual([other, ''])
    expect([second?.weightGrams, second?.taxCategory]).toEqual([0, null])
    expect(none).toBeUndefined()
    expect(first).toEqual({
      variantId: id,
      productId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      categoryIds: [],
      name: 'Cup',
      variantName: 'L',
      slug: expect.stringMatching(/./),
      sku: expect.stringMatching(/./),
      imageUrl: null,
      attributes: { size: 'L' },
      rule,
      weightGrams: 300,
      requiresShipping: false,
      taxCategory: 'food',
      isActive: true,
      price: { minor: 900, discountedMinor: 700 }
    })
    await withdraw(id)
    expect((await quoted())[2]?.isActive).toBe(false)
  })

  test('the catalog finds variants by their SKU in the order of the SKUs, also those that are not for sale', async () => {
    const { catalog, db, sell, withdraw } = await use()
    const ids = [await sell({ name: 'Jug' }), await sell({ name: 'Cup' })]
    const [jug, cup] = await catalog.quote(db, oneOfEach(ids), null)
    if (jug === undefined || cup === undefined) throw new Error('nothing was sold')
    await withdraw(jug.variantId)
    expect(await catalog.findBySku([cup.sku, 'no-such-sku', jug.sku, cup.sku])).toEqual([
      { variantId: cup.variantId, productId: cup.productId, isActive: true },
      undefined,
      { variantId: jug.variantId, productId: jug.productId, isActive: false },
      { variantId: cup.variantId, productId: cup.productId, isActive: true }
    ])
    expect(await catalog.findBySku([])).toEqual([])
  })

  test('the catalog returns the names of variants that are no longer for sale, and null for unknown ids', async () => {
    const { catalog, sell, withdraw } = await use()
    const id = await sell({ name: 'Jug' })
    await withdraw(id)
    await expect.poll(() => catalog.offers(oneOfEach([id]), null)).toEqual([undefined])
    expect(await catalog.names([newId(), id])).toEqual([null, 'Jug'])
    await catalog.requireVariant(id)
    await expect(catalog.requireVariant(newId())).rejects.toMatchObject({
      kind: 'not_found',
      code: 'CATALOG_VARIANT_NOT_FOUND'
    })
  })

  test('the catalog finds an active product by its id and its slug', async () => {
    const { catalog, db, sell } = await use()
    const wanted = oneOfEach([await sell({ name: 'Jug' }), await sell({})])
    const [jug, other] = await catalog.quote(db, wanted, null)
    if (jug === undefined || other === undefined) throw new Error('nothing was sold')
    expect(await catalog.requireProduct(jug.productId)).toBe(jug.productId)
    expect(await catalog.requireProduct(other.slug)).toBe(other.productId)
    for (const none of [newId(), 'no-such-product', jug.variantId])
      await expect(catalog.requireProduct(none)).rejects.toMatchObject({ code: 'CATALOG_PRODUCT_NOT_FOUND' })
  })

  test('the catalog returns example offers, and whether it is empty', async () => {
    needsOwnShop()
    const { catalog, sell } = await use()
    expect([await catalog.isEmpty(), await catalog.someOffers(2)]).toEqual([true, []])
    const ids = [await sell({}), await sell({}), await sell({})]
    expect(await catalog.isEmpty()).toBe(false)
    const some = await catalog.someOffers(2)
    expect(some.filter(({ variantId }) => ids.includes(variantId))).toHaveLength(2)
    expect(await catalog.findOtherCurrency()).toBeUndefined()
  })
})

test("a cart shows all declared fields of the catalog's offers", async () => {
  const shop = await useShop({ modules: [catalogModule, cartModule] })
  const { variants } = await createProduct(shop)
  const answer = await shop
    .as({ token: 'customer' })
    .post('/api/cart', { variant_id: variants[0].id, quantity: 1 })
  const document = (await shop.request('GET', '/openapi.json')).json
  const declared = Object.keys(document.components.schemas.CartItemResponse.properties)
  expect(Object.keys(answer.json.items[0]).sort()).toEqual(declared.sort())
})
