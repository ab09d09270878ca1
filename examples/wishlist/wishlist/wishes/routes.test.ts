import assert from 'node:assert/strict'
import { test } from 'node:test'
import { customer, fakeCatalog, openTestShop } from 'cartwright/testing'
import { wishlistModule } from '../index.ts'

test('a customer sees only their own wishes, and can only add variants of the catalog', async t => {
  const catalog = fakeCatalog()
  const shop = await openTestShop({ modules: [wishlistModule], instead: { catalog } })
  t.after(() => shop.close())
  const [ada, bob] = [shop.as(customer()), shop.as(customer())]

  const { status } = await ada.post('/api/wishlist', { variant_id: catalog.sell() })
  assert.equal(status, 201)
  assert.equal((await ada.get('/api/wishlist?count=true')).json.total, 1)
  assert.equal((await bob.get('/api/wishlist?count=true')).json.total, 0)
  assert.equal((await shop.as(null).get('/api/wishlist')).status, 401)

  const unknown = await ada.post('/api/wishlist', { variant_id: customer().id })
  assert.equal(unknown.json.code, 'CATALOG_VARIANT_NOT_FOUND')
})
