import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { lowestIdAt } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'
import { deleteExpiredCheckouts } from './repository.ts'

shareShops()

const isNotStock = (name: string) => !name.startsWith('inventory.')

async function useBuyer() {
  const shop = await useCheckouts()
  await shop.usePost()
  const buyer = shop.as(customer())
  const begin = async (body: object) => (await buyer.post('/api/checkouts', body)).json
  /**
   * Except stock, which a process reads every second, and rules, which it reads again after invalidations.
   */
  const expectStatements = (request: () => Promise<{ status: number }>, expected: readonly string[]) =>
    expect
      .poll(
        async () => {
          const { result, statements } = await shop.record(request)
          expect(result.status).toBeLessThan(300)
          return statements.filter(isNotStock).sort()
        },
        { interval: 20, timeout: 60_000 }
      )
      .toEqual(expected.toSorted())
  return { ...shop, buyer, begin, expectStatements }
}

test('a checkout of 200 lines needs as many statements as one of a single line', async () => {
  needsOwnShop()
  const { sell, buyer, admin, expectStatements, begin } = await useBuyer()
  const first = await sell()
  const variants = Array.from({ length: 199 }, (_, index) => {
    return { sku: `M${index}`, price: 100 + index, attributes: { Kind: `M${index}` } }
  })
  const product = { name: 'Many', slug: 'many', status: 'active', variants }
  const { json } = await admin.post('/api/catalog/products', product)
  const ids = [first, ...json.variants.map(({ id }: { id: string }) => id)]
  for (const items of [[itemOf(first)], ids.map(id => itemOf(id))]) {
    const body = { items, shipping_address: STOCKHOLM }
    const path = `/api/checkouts/${(await begin(body)).id}`
    const quoted = 'catalog.quote_variants'
    await expectStatements(() => buyer.post('/api/checkouts', body), [quoted, 'orders.insert_checkout'])
    await expectStatements(() => buyer.get(path), ['orders.find_checkout', quoted])
    await expectStatements(
      () => buyer.put(path, body),
      ['orders.find_checkout', quoted, 'orders.update_checkout']
    )
  }
})

test('a checkout with codes needs one more statement, with usage limits another, and with a cart another', async () => {
  const { sell, buyer, expectStatements, made, begin } = await useBuyer()
  const effect = { type: 'percentage', percentage_ppm: 1 }
  await made('promotions', { name: 'All', class: 'line', uses_max: 9, effect })
  await buyer.post('/api/cart', itemOf(await sell()))
  const { id } = await begin({ cart: true, codes: ['a', 'b', 'c'] })
  await expectStatements(
    () => buyer.get(`/api/checkouts/${id}`),
    [
      ...['orders.find_checkout', 'catalog.quote_variants', 'cart.find_cart_lines'],
      ...['pricing.list_promotions_by_code', 'pricing.list_uses']
    ]
  )
})

test('of concurrent updates of one checkout version, one is applied', async () => {
  const { sell, buyer, begin } = await useBuyer()
  const mug = await sell()
  const made = await begin({ items: [itemOf(mug)] })
  const put = (quantity: number) =>
    buyer.put(`/api/checkouts/${made.id}`, { items: [itemOf(mug, quantity)] }, { 'if-match': '"1"' })
  const answers = await Promise.all(Array.from({ length: 12 }, (_, index) => put(index + 2)))
  const won = answers.filter(({ status }) => status === 200)
  expect(won).toHaveLength(1)
  expect(answers.filter(({ json }) => json.code === 'CHECKOUT_STALE')).toHaveLength(11)
  expect((await buyer.get(`/api/checkouts/${made.id}`)).json).toEqual(won[0]?.json)
})

test('no update of a checkout is applied after a concurrent cancellation', async () => {
  const { sell, buyer, begin } = await useBuyer()
  const mug = await sell()
  const made = await begin({ items: [itemOf(mug)] })
  const path = `/api/checkouts/${made.id}`
  const puts = Array.from({ length: 10 }, (_, index) => buyer.put(path, { items: [itemOf(mug, index + 1)] }))
  const [canceled, ...changed] = await Promise.all([buyer.post(`${path}/cancel`), ...puts])
  const done = changed.filter(({ status }) => status === 200)
  for (const { status, json } of changed.filter(each => !done.includes(each)))
    expect([status, json.code]).toEqual([409, 'CHECKOUT_CANCELED'])
  expect(canceled.json.version).toBe(done.length + 2)
  expect((await buyer.get(path)).json).toMatchObject({ status: 'canceled', version: done.length + 2 })
})

test('expired and canceled checkouts are deleted later, and no others', async () => {
  needsOwnShop()
  const { db, sql, sell, begin, buyer } = await useBuyer()
  const body = { items: [itemOf(await sell())] }
  const [open, extended, expired, old, canceled] = [
    await begin(body),
    await begin(body),
    await begin(body),
    await begin(body),
    await begin(body)
  ]
  await buyer.post(`/api/checkouts/${canceled.id}/cancel`)
  const age = (ids: string[], minutes: number) =>
    sql('update orders.checkouts set expires_at = now() - make_interval(mins => $2) where id = any ($1)', [
      ids,
      minutes
    ])
  await age([expired.id], 59)
  await age([old.id, canceled.id], 60)
  const deleteBefore = (time: number) =>
    db.run(deleteExpiredCheckouts, { keptSeconds: 3_600, before: lowestIdAt(new Date(time)) })
  expect(await deleteBefore(Date.now() - 60_000)).toBe(0)
  expect(await deleteBefore(Date.now() + 1_000)).toBe(2)
  const left = await sql('select id from orders.checkouts order by id')
  expect(left.map(({ id }) => id)).toEqual([open.id, extended.id, expired.id])
  expect((await buyer.get(`/api/checkouts/${old.id}`)).status).toBe(404)
})

test('a checkout of a cart with too many lines is rejected with the maximum', async () => {
  const shop = await useCheckouts({ settings: { CARTWRIGHT__CART__LINES_MAX: '300' } })
  const variants = Array.from({ length: 201 }, (_, index) => {
    return { sku: `M${index}`, price: 100, attributes: { Kind: `M${index}` } }
  })
  const { json: product } = await shop.admin.post('/api/catalog/products', { name: 'Many', variants })
  const items = product.variants.map(({ id }: { id: string }) => itemOf(id))
  const buyer = shop.as(customer())
  await buyer.post('/api/cart/merge', { items: items.slice(0, 200) })
  expect((await buyer.post('/api/cart', items[200])).json.distinct_count).toBe(201)
  const { status, json } = await buyer.post('/api/checkouts', { cart: true })
  expect([status, json]).toMatchObject([400, { code: 'PRICING_QUOTE_TOO_LARGE', what: 'lines', limit: 200 }])
})

test('a checkout that is too large to be priced is rejected and not stored', async () => {
  needsOwnShop()
  const { sell, buyer, sql } = await useBuyer()
  const dear = await sell({ price: 100_000_000_000 })
  const { status, json } = await buyer.post('/api/checkouts', { items: [itemOf(dear, 1_000_000)] })
  expect([status, json]).toMatchObject([400, { code: 'PRICING_QUOTE_TOO_LARGE', what: 'subtotal' }])
  expect(await sql('select id from orders.checkouts')).toEqual([])
})
