import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type CatalogApp,
  changesOf,
  createCategory,
  createDiscount,
  createProduct,
  useCatalog
} from '../../../test/support/catalog.ts'
import { needsOwnShop, shareShops } from '../../../test/support/shared-shops.ts'
import { runSql } from '../../../test/support/sql.ts'
import { newId } from '../../kernel/ids.ts'
import { createIdempotentWrite, newWrite } from '../../platform/idempotency/write.ts'
import { createCategoryService } from './categories/service.ts'
import { createCatalogDiscountService } from './discounts/service.ts'
import { createProductService } from './products/service.ts'
import { createVariantService } from './variants/service.ts'

shareShops()

type Sent = { body?: unknown; headers?: Record<string, string> }

/** An administrator who retries a request with the same key after its response was lost. */
async function useAdmin() {
  const app = await useCatalog()
  const send = (method: string, path: string, { body, headers = {} }: Sent = {}) =>
    app.request(method, `/api/catalog/${path}`, { token: 'admin', headers, body })
  /**
   * Sends a request and loses the response after the commit. Returns a function that sends the same request
   * again.
   */
  async function lose(method: string, path: string, { body, headers = {} }: Sent = {}) {
    const keyed = { ...headers, 'idempotency-key': randomUUID() }
    const first = await send(method, path, { body, headers: keyed })
    const lost = await runSql(
      app.databaseUrl,
      `update cartwright.idempotency_keys set status = null, answer = null, state = 'applied'
       where state = 'done' and created_at = (select max(created_at) from cartwright.idempotency_keys)
       returning key_hash`
    )
    expect([first.text, lost.length]).toEqual([first.text, 1])
    return { first: first.json, retry: () => send(method, path, { body, headers: keyed }) }
  }
  return { app, send, lose }
}

test('a retried product creation after a lost response returns the product, also if renamed and its slug reused', async () => {
  needsOwnShop()
  const { app, send, lose } = await useAdmin()
  const body = { name: 'Mug', variants: [{ sku: 'A', price: 1 }] }
  const { first, retry } = await lose('POST', 'products', { body })
  const renamed = await send('PATCH', `products/${first.id}`, { body: { name: 'Cup', slug: 'cup' } })
  const other = await createProduct(app, { name: 'Mug', slug: 'mug' })
  const again = await retry()
  expect([again.status, again.headers.etag, again.json]).toEqual([201, '"2"', renamed.json])
  expect(again.json.id).not.toBe(other.id)
})

test('a retry after a lost response returns the created product after it was renamed', async () => {
  needsOwnShop()
  const { send, lose } = await useAdmin()
  const { first, retry } = await lose('POST', 'products', { body: { name: 'Mug' } })
  await send('PATCH', `products/${first.id}`, { body: { slug: 'cup' } })
  const again = await retry()
  expect([again.status, again.json.id, again.json.slug]).toEqual([201, first.id, 'cup'])
  expect((await send('GET', 'products?count=true')).json.total).toBe(1)
})

test('a retry after a lost response returns the created variant, also if another took its SKU', async () => {
  const { app, send, lose } = await useAdmin()
  const product = await createProduct(app)
  const path = `products/${product.id}/variants`
  const { first, retry } = await lose('POST', path, {
    body: { sku: 'B', price: 2, attributes: { Size: 'B' } }
  })
  await send('PATCH', `variants/${first.id}`, { body: { sku: 'C' } })
  await createProduct(app, { variants: [{ sku: 'B', price: 3 }] })
  const again = await retry()
  expect([again.status, again.headers.etag, again.json]).toEqual([
    201,
    '"3"',
    { ...first, sku: 'C', version: 3 }
  ])
})

test('a retry after a lost response returns the created category, also if another took its slug', async () => {
  const { app, send, lose } = await useAdmin()
  const { first, retry } = await lose('POST', 'categories', { body: { name: 'Home' } })
  const renamed = await send('PATCH', `categories/${first.id}`, { body: { name: 'House', slug: 'house' } })
  await createCategory(app, 'Home')
  const again = await retry()
  expect([again.status, again.json]).toEqual([201, renamed.json])
})

test('a retry after a lost response returns the created discount, also if others have its name', async () => {
  needsOwnShop()
  const { app, send, lose } = await useAdmin()
  const { id } = await createProduct(app)
  const body = { name: 'Less', scope: 'product', target_id: id, amount: 1 }
  const { first, retry } = await lose('POST', 'discounts', { body })
  const renamed = await send('PATCH', `discounts/${first.id}`, { body: { name: 'More' } })
  await createDiscount(app, body)
  const again = await retry()
  expect([again.status, again.json]).toEqual([201, renamed.json])
  expect((await send('GET', 'discounts?count=true')).json.total).toBe(2)
})

/** One resource of each kind, with its path. */
async function everything(app: CatalogApp) {
  const product = await createProduct(app)
  const category = await createCategory(app, `Home ${randomUUID()}`)
  const discount = await createDiscount(app, { scope: 'category', target_id: category.id, amount: 1 })
  return [
    [`discounts/${discount.id}`, { name: 'More' }, 'CATALOG_DISCOUNT_STALE'],
    [`categories/${category.id}`, { name: 'House' }, 'CATALOG_CATEGORY_STALE'],
    [`variants/${product.variants[0].id}`, { price: 2 }, 'CATALOG_PRODUCT_STALE'],
    [`products/${product.id}`, { name: 'Cup' }, 'CATALOG_PRODUCT_STALE']
  ] as const
}

test('a retried catalog change after a lost response does not repeat the change or check If-Match again', async () => {
  const { app, send, lose } = await useAdmin()
  for (const [path, body] of await everything(app)) {
    const present = String((await send('PATCH', path, { body: {} })).headers.etag)
    const { first, retry } = await lose('PATCH', path, { body, headers: { 'if-match': present } })
    const next = await send('PATCH', path, { body: { name: 'Third' } })
    const again = await retry()
    expect([path, again.status, again.headers.etag]).toEqual([path, 200, next.headers.etag])
    expect(again.json).toEqual(next.json)
    expect(again.json).toEqual({
      ...first,
      name: 'Third',
      ...(again.json.version && { version: again.json.version }),
      ...(again.json.updated_at && { updated_at: again.json.updated_at })
    })
  }
})

test('a retried catalog deletion after a lost response returns its success; without the key it gets 404', async () => {
  const { app, send, lose } = await useAdmin()
  for (const [path] of await everything(app)) {
    const { retry } = await lose('DELETE', path)
    expect([path, (await retry()).status]).toEqual([path, 204])
    expect([path, (await retry()).status]).toEqual([path, 204])
    expect([path, (await send('DELETE', path)).status]).toEqual([path, 404])
  }
})

test('a repeated catalog deletion with one idempotency key returns the first response, 204 or 404', async () => {
  const { app, send } = await useAdmin()
  for (const [path] of await everything(app)) {
    const [headers, others] = [{ 'idempotency-key': randomUUID() }, { 'idempotency-key': randomUUID() }]
    const answers = []
    for (const each of [headers, headers, others, others])
      answers.push((await send('DELETE', path, { headers: each })).status)
    expect([path, answers]).toEqual([path, [204, 204, 404, 404]])
  }
})

test('a catalog write with an old version in If-Match is rejected; the present version and * are accepted', async () => {
  const { app, send } = await useAdmin()
  for (const [path, body, code] of await everything(app)) {
    const stale = { 'if-match': '"999"' }
    for (const answer of [
      await send('PATCH', path, { body, headers: stale }),
      await send('DELETE', path, { headers: stale })
    ])
      expect([path, answer.status, answer.json.code]).toEqual([path, 412, code])
    const first = await send('PATCH', path, { body, headers: { 'if-match': '*' } })
    expect([path, first.status]).toEqual([path, 200])
    const headers = { 'if-match': String(first.headers.etag) }
    const second = await send('PATCH', path, { body: { name: 'Third' }, headers })
    expect([path, second.status, second.json.name]).toEqual([path, 200, 'Third'])
    expect((await send('DELETE', path, { headers })).json.code).toBe(code)
    const fresh = { 'if-match': String(second.headers.etag) }
    expect([path, (await send('DELETE', path, { headers: fresh })).status]).toEqual([path, 204])
  }
})

test('each change raises the version of a category or discount', async () => {
  needsOwnShop()
  const { app, send } = await useAdmin()
  const [[discount], [category]] = (await everything(app)) as unknown as [[string], [string]]
  for (const path of [discount, category]) {
    for (const version of [2, 3]) {
      const { headers, json } = await send('PATCH', path, { body: { name: `Version ${version}` } })
      expect([path, json.version, headers.etag]).toEqual([path, version, `"${version}"`])
    }
  }
  const made = await send('POST', 'categories', { body: { name: 'Bath' } })
  expect([made.json.version, made.headers.etag]).toEqual([1, '"1"'])
  expect((await app.request('GET', '/api/categories/bath')).json.version).toBe(1)
  expect((await send('GET', 'discounts')).json.items).toMatchObject([{ version: 3 }])
})

test('of concurrent deletions of one catalog object one succeeds, and the others get 404', async () => {
  const { app, send } = await useAdmin()
  for (const [path] of await everything(app)) {
    const answers = await Promise.all(Array.from({ length: 4 }, () => send('DELETE', path)))
    expect([path, answers.map(({ status }) => status).sort()]).toEqual([path, [204, 404, 404, 404]])
  }
})

test('the idempotency key of a catalog write is completed in its transaction; after losing its lease it writes nothing', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const { db, broadcast } = app.platform
  const currency = 'USD'
  const changes = changesOf({ db, broadcast })
  const deps = { db, changes, inventory: undefined, currency }
  const products = createProductService(deps)
  const variants = createVariantService(deps)
  const categories = createCategoryService(deps)
  const discounts = createCatalogDiscountService(deps)
  const takenOver = () =>
    createIdempotentWrite({
      id: newId(),
      isApplied: false,
      resultId: null,
      expectedVersion: null,
      mark: async () => {
        throw new Error('taken over')
      }
    })
  const product = await products.create({ name: 'Mug', variants: [{ sku: 'A', price: 1 }] }, newWrite())
  const [variant] = product.variants
  const category = await categories.create({ name: 'Home' }, newWrite())
  const target = { scope: 'product', target_id: product.id, amount: 1 } as const
  const discount = await discounts.create({ name: 'Less', ...target }, newWrite())
  for (const write of [
    () => products.create({ name: 'Jug' }, takenOver()),
    () => products.patch(product.id, { name: 'Jug' }, takenOver()),
    () => products.remove(product.id, takenOver()),
    () => variants.create(product.id, { sku: 'B', price: 2, attributes: { Size: 'B' } }, takenOver()),
    () => variants.patch(variant?.id ?? '', { price: 3 }, takenOver()),
    () => variants.remove(variant?.id ?? '', takenOver()),
    () => categories.create({ name: 'Bath' }, takenOver()),
    () => categories.patch(category.id, { name: 'Bath' }, takenOver()),
    () => categories.remove(category.id, takenOver()),
    () => discounts.create({ name: 'More', ...target }, takenOver()),
    () => discounts.patch(discount.id, { amount: 2 }, takenOver()),
    () => discounts.remove(discount.id, takenOver())
  ])
    await expect(write()).rejects.toThrow('taken over')
  expect(await products.read(product.id)).toEqual(product)
  expect((await products.list({ count: true })).total).toBe(1)
  expect((await discounts.list({})).items).toEqual([discount])
})
