import { expect, test } from 'vitest'
import { createCategory, createProduct, oneOfEach, useCatalog } from '../../../../test/support/catalog.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const admin = { token: 'admin' }

test('categories are listed as a tree, sorted by position and name', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const home = await createCategory(app, 'Home')
  const kitchen = await createCategory(app, 'Kitchen', home.id)
  await createCategory(app, 'Bath', home.id)
  const mugs = await createCategory(app, 'Mugs', kitchen.id)
  await app.request('PATCH', `/api/catalog/categories/${kitchen.id}`, { ...admin, body: { position: 1 } })
  const tree = (await app.request('GET', '/api/categories')).json
  expect(tree.items).toMatchObject([
    {
      slug: 'home',
      children: [
        { slug: 'bath', children: [] },
        { slug: 'kitchen', children: [{ slug: 'mugs' }] }
      ]
    }
  ])
  const read = (await app.request('GET', '/api/categories/kitchen')).json
  expect(read).toMatchObject({
    id: kitchen.id,
    parent_id: home.id,
    ancestors: [{ slug: 'home' }],
    children: [{ slug: 'mugs' }]
  })
  expect((await app.request('GET', `/api/categories/${mugs.id}`)).json.ancestors).toMatchObject([
    { slug: 'home' },
    { slug: 'kitchen' }
  ])
  expect((await app.request('GET', '/api/categories/none')).json.code).toBe('CATALOG_CATEGORY_NOT_FOUND')
})

test('a category is moved together with all categories below it', async () => {
  const app = await useCatalog()
  const [old, fresh] = [await createCategory(app, 'Old'), await createCategory(app, 'Fresh')]
  const middle = await createCategory(app, 'Middle', old.id)
  const leaf = await createCategory(app, 'Leaf', middle.id)
  await createProduct(app, { category_ids: [leaf.id] })
  const move = (id: string, parent_id: string | null) =>
    app.request('PATCH', `/api/catalog/categories/${id}`, { ...admin, body: { parent_id } })
  const countIn = async (slug: string) =>
    (await app.request('GET', `/api/products?category=${slug}&count=true`)).json.total
  expect([await countIn('old'), await countIn('fresh')]).toEqual([1, 0])
  expect((await move(middle.id, fresh.id)).json.parent_id).toBe(fresh.id)
  expect([await countIn('old'), await countIn('fresh'), await countIn('leaf')]).toEqual([0, 1, 1])
  await move(middle.id, null)
  expect([await countIn('fresh'), await countIn('middle')]).toEqual([0, 1])
  expect((await move(middle.id, newId())).json.code).toBe('CATALOG_CATEGORY_NOT_FOUND')
})

test('two concurrent moves never put a category below itself', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const a = await createCategory(app, 'A')
  const b = await createCategory(app, 'B', a.id)
  const c = await createCategory(app, 'C', b.id)
  const move = (id: string, parent_id: string) =>
    app.request('PATCH', `/api/catalog/categories/${id}`, { ...admin, body: { parent_id } })
  expect((await move(a.id, a.id)).json).toMatchObject({ status: 409, code: 'CATALOG_CATEGORY_CYCLE' })
  expect((await move(a.id, c.id)).json.code).toBe('CATALOG_CATEGORY_CYCLE')

  for (let round = 0; round < 5; round += 1) {
    const [x, y] = [await createCategory(app, `X${round}`), await createCategory(app, `Y${round}`)]
    const answers = await Promise.all([move(x.id, y.id), move(y.id, x.id)])
    expect(answers.map(answer => answer.status).sort()).toEqual([200, 409])
  }
  expect((await app.request('GET', '/api/categories')).json.items).toHaveLength(6)
})

test('only a category without children can be deleted, and its products are kept', async () => {
  const app = await useCatalog()
  const parent = await createCategory(app, 'Parent')
  const child = await createCategory(app, 'Child', parent.id)
  const product = await createProduct(app, { category_ids: [child.id] })
  const remove = (id: string) => app.request('DELETE', `/api/catalog/categories/${id}`, admin)
  expect((await remove(parent.id)).json).toMatchObject({ status: 409, code: 'CATALOG_CATEGORY_NOT_EMPTY' })
  expect((await remove(child.id)).status).toBe(204)
  expect((await remove(parent.id)).status).toBe(204)
  expect((await remove(parent.id)).json.code).toBe('CATALOG_CATEGORY_NOT_FOUND')
  expect((await app.request('GET', `/api/catalog/products/${product.id}`, admin)).json.categories).toEqual([])
})

test('each change of a category emits catalog.changed, and its products keep their version', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const send = (method: string, path: string, body?: object) =>
    app.request(method, `/api/catalog/${path}`, { ...admin, ...(body && { body }) })
  const category = await createCategory(app, 'Mugs')
  const product = await createProduct(app, { slug: 'mug', category_ids: [category.id] })
  const events = async (name: string) =>
    (await app.sql('select from cartwright.events where name = $1', [name])).length
  const read = async () => (await send('GET', `products/${product.id}`)).json
  expect([await events('catalog.changed'), await events('catalog.product_changed')]).toEqual([1, 1])
  expect((await send('PATCH', `categories/${category.id}`, { name: 'Cups' })).status).toBe(200)
  expect(await read()).toMatchObject({ version: product.version, categories: [{ name: 'Cups' }] })
  expect(await events('catalog.changed')).toBe(2)
  expect((await send('DELETE', `categories/${category.id}`)).status).toBe(204)
  expect(await read()).toMatchObject({ version: product.version, categories: [] })
  expect([await events('catalog.changed'), await events('catalog.product_changed')]).toEqual([3, 1])
})

test('category slugs are unique, and the category tree is 10 levels deep at most', async () => {
  const app = await useCatalog()
  let last = await createCategory(app, 'Level 1')
  for (let level = 2; level <= 10; level += 1) last = await createCategory(app, `Level ${level}`, last.id)
  const post = (body: unknown) => app.request('POST', '/api/catalog/categories', { ...admin, body })
  expect((await post({ name: 'Level 11', parent_id: last.id })).json.code).toBe('CATALOG_CATEGORY_TOO_DEEP')
  expect((await post({ name: 'Level 3' })).json.code).toBe('CATALOG_SLUG_TAKEN')
  expect((await post({ name: 'Level', parent_id: newId() })).json.code).toBe('CATALOG_CATEGORY_NOT_FOUND')
})

test('category ids in capitals identify the same categories', async () => {
  const app = await useCatalog()
  const parent = await createCategory(app, 'Home')
  const child = await createCategory(app, 'Kitchen', parent.id)
  const patch = await app.request('PATCH', `/api/catalog/categories/${parent.id.toUpperCase()}`, {
    token: 'admin',
    body: { parent_id: child.id }
  })
  expect([patch.status, patch.json.code]).toEqual([409, 'CATALOG_CATEGORY_CYCLE'])

  const product = await createProduct(app)
  const [{ id }] = product.variants
  expect(await app.catalog.offers(oneOfEach([id]), null)).toMatchObject([{ price: 1_000 }])
  const url = `/api/catalog/variants/${id.toUpperCase()}`
  expect((await app.request('DELETE', url, { token: 'admin' })).status).toBe(204)
  expect(await app.catalog.offers(oneOfEach([id]), null)).toEqual([undefined])
})
