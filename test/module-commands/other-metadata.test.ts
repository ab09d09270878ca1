import { expect, test } from 'vitest'
import { newWrite } from '../../src/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { ordersModule } from '../../src/modules/orders/index.ts'
import { pricingModule } from '../../src/modules/pricing/index.ts'
import { reviewsModule } from '../../src/modules/reviews/index.ts'
import { shippingModule } from '../../src/modules/shipping/index.ts'
import type { UpdateMetadata } from '../../src/platform/metadata-command.ts'
import { admin, customer } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import { sent, useOrders } from '../support/orders.ts'
import { needsOwnShop, shareShops } from '../support/shared-shops.ts'

shareShops()

type Shop = Awaited<ReturnType<typeof useShop>>

const useShop = () => useOrders({ modules: [...CHECKOUT_MODULES, reviewsModule] })

/** An object of each noun: its id, its command, and where administrators read it. */
const NOUNS: Readonly<
  Record<string, (shop: Shop) => Promise<{ id: string; update: UpdateMetadata | undefined; path: string }>>
> = {
  order: async shop => {
    const { json } = await shop.as(customer()).post('/api/orders', sent(shop.mug))
    return { id: json.id, update: shop.apiOf(ordersModule)?.orders.updateMetadata, path: '/api/admin/orders' }
  },
  product: async shop => {
    const [row] = await shop.sql('select product_id as id from catalog.variants where id = $1', [shop.mug])
    const update = shop.apiOf(catalogModule)?.products.updateMetadata
    return { id: String(row?.id), update, path: '/api/catalog/products' }
  },
  variant: async shop => {
    const update = shop.apiOf(catalogModule)?.variants.updateMetadata
    return { id: shop.mug, update, path: '/api/catalog/variants' }
  },
  category: async shop => {
    const { json } = await shop.as(admin()).post('/api/catalog/categories', { name: 'Mugs' })
    const update = shop.apiOf(catalogModule)?.categories.updateMetadata
    return { id: json.id, update, path: '/api/catalog/categories' }
  },
  'price list': async shop => {
    const body = { name: 'Wholesale', currency: 'USD' }
    const { json } = await shop.as(admin()).post('/api/admin/price-lists', body)
    const update = shop.apiOf(pricingModule)?.priceLists.updateMetadata
    return { id: json.id, update, path: '/api/admin/price-lists' }
  },
  promotion: async shop => {
    const effect = { type: 'percentage', percentage_ppm: 100_000 }
    const body = { name: 'A tenth off', class: 'order', effect }
    const { json } = await shop.as(admin()).post('/api/admin/promotions', body)
    const update = shop.apiOf(pricingModule)?.promotions.updateMetadata
    return { id: json.id, update, path: '/api/admin/promotions' }
  },
  shipment: async shop => {
    const { json } = await shop.as(customer()).post('/api/orders', sent(shop.mug))
    const [row] = await shop.sql('select id from shipping.shipments where order_id = $1', [json.id])
    const update = shop.apiOf(shippingModule)?.updateMetadata
    return { id: String(row?.id), update, path: '/api/admin/shipping/shipments' }
  },
  review: async shop => {
    const [row] = await shop.sql('select product_id as id from catalog.variants where id = $1', [shop.mug])
    const review = { rating: 5, title: 'Good', body: 'It holds coffee.', author: 'Ada' }
    const { status, text } = await shop.as(customer()).post(`/api/products/${row?.id}/reviews`, review)
    expect(status, text).toBe(201)
    const [stored] = await shop.sql('select id from reviews.reviews where product_id = $1', [row?.id])
    const update = shop.apiOf(reviewsModule)?.updateMetadata
    return { id: String(stored?.id), update, path: '/api/catalog/reviews' }
  }
}

/** Reads an object as an administrator. A variant has no route to read it, so an update without a field returns it. */
async function readObject(shop: Shop, path: string, id: string) {
  const { json } = path.endsWith('/variants')
    ? await shop.as(admin()).patch(`${path}/${id}`, {})
    : await shop.as(admin()).get(`${path}/${id}`)
  return json
}

test.each(Object.entries(NOUNS))(
  'a module changes the metadata of a %s, and invalid metadata changes nothing',
  async (_, prepare) => {
    const shop = await useShop()
    const { id, update, path } = await prepare(shop)
    if (update === undefined) throw new Error('the module is missing')
    const read = () => readObject(shop, path, id)
    const { version } = await read()

    const change = { metadata: { erp_number: '4711', gone: 'x' }, private_metadata: { margin: 'low' } }
    await update(id, change, newWrite())
    const updated = await update(id, { metadata: { gone: null } }, newWrite())
    const metadata = { metadata: { erp_number: '4711' }, private_metadata: { margin: 'low' } }
    expect(updated).toEqual({ id, version: version + 2, ...metadata })
    const stored = await read()
    expect(stored).toMatchObject({ version: version + 2, ...metadata })

    for (const wrong of [{ metadata: { erp_number: 4711 } }, { status: 'archived' }])
      await expect(update(id, wrong as object, newWrite())).rejects.toMatchObject({
        code: 'METADATA_INVALID'
      })
    const full = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`key${at}`, 'x']))
    await expect(update(id, { metadata: full }, newWrite())).rejects.toMatchObject({ code: 'METADATA_LIMIT' })
    expect(await read()).toEqual(stored)
    await expect(update(newId(), change, newWrite())).rejects.toMatchObject({
      code: expect.stringMatching(/_NOT_FOUND$/)
    })
  }
)

test.each(Object.entries(NOUNS))(
  'a change that leaves the metadata of a %s equal raises no version and emits no event',
  async (noun, prepare) => {
    needsOwnShop()
    const shop = await useShop()
    const { id, update, path } = await prepare(shop)
    if (update === undefined) throw new Error('the module is missing')
    const read = () => readObject(shop, path, id)
    const change = { metadata: { a: '1', b: '2' }, private_metadata: { margin: 'low' } }
    await update(id, change, newWrite())
    const before = await read()
    const events = () => shop.sql('select name from cartwright.events')
    const emitted = await events()

    const equal = [
      change,
      { metadata: { b: '2', a: '1' } },
      { private_metadata: { gone: null, empty: '' } },
      {}
    ]
    for (const each of equal) {
      expect(await update(id, each, newWrite())).toMatchObject({ version: before.version })
      const { status, json } = await shop.as(admin()).patch(`${path}/${id}`, each)
      expect([status, json.version]).toEqual([200, before.version])
    }
    expect(await read()).toEqual(before)
    expect(await events()).toEqual(emitted)
    await update(id, { metadata: { a: '2' } }, newWrite())
    expect((await read()).version).toBe(before.version + 1)
    expect((await events()).length - emitted.length).toBe(
      path.startsWith('/api/catalog/') && noun !== 'review' ? 1 : 0
    )
  }
)
