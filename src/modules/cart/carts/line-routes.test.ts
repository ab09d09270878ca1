import { describe, expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { useStockedCartShop } from '../../../../test/support/use-cart-shop.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

type Line = { id: string; variant_id: string; quantity: number; metadata: Record<string, string> }
const many = (count: number, length = 1) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, 'é'.repeat(length)]))
const contentsOf = (items: readonly Line[]) =>
  items.map(({ variant_id, quantity, metadata }) => [variant_id, quantity, metadata])

/** A cart with three lines of one variant: without metadata, for Ada and for Bob. */
async function useCart(
  kind: 'customer' | 'guest',
  settings: Record<string, string> = {},
  stock: number | null = null
) {
  const shop = await useStockedCartShop(settings)
  const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
  if (stock !== null) shop.inventory.put(mug, stock)
  const token = newId()
  const url = kind === 'guest' ? '/api/guest-cart' : '/api/cart'
  const first = await shop.request('POST', url, { token, body: { variant_id: mug, quantity: 1 } })
  const headers = { 'x-guest-cart-token': first.json.guest_cart_token as string }
  const caller = kind === 'guest' ? { headers } : { token }
  const send = (method: string, path: string, body?: object, more = {}) =>
    shop.request(method, `${url}${path}`, {
      ...caller,
      body,
      headers: { ...(kind === 'guest' && headers), ...more }
    })
  const add = (text: string, quantity = 1, variant_id = mug) =>
    send('POST', '', { variant_id, quantity, metadata: { text } })
  await add('Ada', 2)
  const { json } = await add('Bob', 3)
  const [plain, ada, bob] = json.items as [Line, Line, Line]
  return {
    shop,
    inventory: shop.inventory,
    mug,
    tee,
    token,
    send,
    add,
    plain,
    ada,
    bob,
    guestToken: headers['x-guest-cart-token'],
    read: async () => (await send('GET', '')).json
  }
}

describe.each(['customer', 'guest'] as const)('the lines of the cart of a %s', kind => {
  test('lines of one variant with different metadata stay apart, and equal ones are one', async () => {
    const { add, read, mug, tee, ada } = await useCart(kind)
    await add('Ada', 4)
    const { json } = await add('Ada', 1, tee)
    expect(contentsOf(json.items)).toEqual([
      [mug, 1, {}],
      [mug, 6, { text: 'Ada' }],
      [mug, 3, { text: 'Bob' }],
      [tee, 1, { text: 'Ada' }]
    ])
    expect(json.items[1].id).toBe(ada.id)
    expect(json).toMatchObject({ count: 11, distinct_count: 2 })
    expect((await read()).items).toEqual(json.items)
  })

  test('metadata is equal in any order of its keys, and without its empty texts', async () => {
    const { send, mug, read } = await useCart(kind)
    const item = { variant_id: mug, quantity: 1 }
    await send('POST', '', { ...item, metadata: { a: '1', 'longer key': '2' } })
    await send('POST', '', { ...item, metadata: { 'longer key': '2', gone: null, empty: '', a: '1' } })
    await send('POST', '', { ...item, metadata: { empty: '' } })
    expect(contentsOf((await read()).items)).toEqual([
      [mug, 2, {}],
      [mug, 2, { text: 'Ada' }],
      [mug, 3, { text: 'Bob' }],
      [mug, 2, { a: '1', 'longer key': '2' }]
    ])
  })

  test('a change by variant is rejected while the variant has several lines, and accepted with one', async () => {
    const { send, mug, plain, ada, read } = await useCart(kind)
    const before = await read()
    for (const answer of [
      await send('PUT', `/items/${mug}`, { quantity: 5 }),
      await send('DELETE', `/items/${mug}`)
    ]) {
      expect([answer.status, answer.json.code]).toEqual([409, 'CART_LINE_AMBIGUOUS'])
      expect(answer.json.detail).toContain('/api/cart/lines/{line_id}')
    }
    expect(await read()).toEqual(before)
    for (const { id } of [plain, ada]) expect((await send('DELETE', `/lines/${id}`)).status).toBe(200)
    const set = await send('PUT', `/items/${mug}`, { quantity: 5 })
    expect(contentsOf(set.json.items)).toEqual([[mug, 5, { text: 'Bob' }]])
    expect((await send('DELETE', `/items/${mug}`)).json.items).toEqual([])
  })

  test('a line is changed by its id, and the others stay', async () => {
    const { send, mug, ada, read } = await useCart(kind)
    const { version } = await read()
    const changed = await send('PATCH', `/lines/${ada.id}`, { quantity: 7, metadata: { color: 'red' } })
    expect([changed.status, changed.json.version]).toEqual([200, version + 1])
    expect(contentsOf(changed.json.items)).toEqual([
      [mug, 1, {}],
      [mug, 7, { text: 'Ada', color: 'red' }],
      [mug, 3, { text: 'Bob' }]
    ])
    expect(changed.json.items[1].id).toBe(ada.id)
    expect((await read()).items).toEqual(changed.json.items)
    const removed = await send('PATCH', `/lines/${ada.id}`, { metadata: { text: null } })
    expect(removed.json.items[1]).toMatchObject({ quantity: 7, metadata: { color: 'red' } })
    expect((await send('PATCH', `/lines/${ada.id}`, {})).json.version).toBe(version + 2)
  })

  test('a line that becomes equal to another is merged into the older one', async () => {
    const { send, mug, plain, ada, bob, read } = await useCart(kind)
    const { json } = await send('PATCH', `/lines/${ada.id}`, { metadata: { text: 'Bob' } })
    expect(contentsOf(json.items)).toEqual([
      [mug, 1, {}],
      [mug, 5, { text: 'Bob' }]
    ])
    expect(json.items.map(({ id }: Line) => id)).toEqual([plain.id, ada.id])
    expect((await send('PATCH', `/lines/${bob.id}`, { quantity: 1 })).json.code).toBe('CART_LINE_NOT_FOUND')
    const last = await send('PATCH', `/lines/${ada.id}`, { quantity: 2, metadata: { text: '' } })
    expect(contentsOf(last.json.items)).toEqual([[mug, 3, {}]])
    expect(last.json.items[0].id).toBe(plain.id)
    expect(await read()).toMatchObject({ items: last.json.items, count: 3, distinct_count: 1 })
  })

  test('an unknown line answers 404, and a wrong id 400', async () => {
    const { send } = await useCart(kind)
    for (const [method, body] of [
      ['PATCH', { quantity: 1 }],
      ['PATCH', { metadata: { a: '1' } }],
      ['DELETE', undefined]
    ] as const) {
      const answer = await send(method, `/lines/${newId()}`, body)
      expect([answer.status, answer.json.code]).toEqual([404, 'CART_LINE_NOT_FOUND'])
      expect((await send(method, '/lines/mug', body)).status).toBe(400)
    }
  })

  test('a stale version rejects a change of a line', async () => {
    const { send, ada, read } = await useCart(kind)
    const before = await read()
    for (const [method, body] of [
      ['PATCH', { quantity: 1 }],
      ['DELETE', undefined]
    ] as const) {
      const answer = await send(method, `/lines/${ada.id}`, body, { 'if-match': '"1"' })
      expect([answer.status, answer.json.code]).toEqual([412, 'CART_VERSION_STALE'])
    }
    expect(await read()).toEqual(before)
  })

  test('limits and stock apply to the lines of a variant together', async () => {
    const limit = { CARTWRIGHT__CART__LINE_QUANTITY_MAX: '9' }
    const limited = await useCart(kind, limit)
    const scarce = await useCart(kind, {}, 8)
    for (const [{ send, add, ada, read }, code, details] of [
      [limited, 'CART_QUANTITY_LIMIT', { limit: 9 }],
      [scarce, 'CART_INSUFFICIENT_STOCK', { available: 8 }]
    ] as const) {
      const most = Object.values(details)[0] as number
      expect((await send('PATCH', `/lines/${ada.id}`, { quantity: most - 4 })).status).toBe(200)
      for (const answer of [
        await add('Cy', 1),
        await add('Bob', 1),
        await send('PATCH', `/lines/${ada.id}`, { quantity: most - 3 })
      ]) {
        expect(answer.json).toMatchObject({ code, ...details })
      }
      expect((await send('PATCH', `/lines/${ada.id}`, { metadata: { text: 'Cy' } })).status).toBe(200)
      expect((await read()).count).toBe(most)
    }
  })

  test('a quantity can be split into lines step by step, and is available once the sum follows the rule', async () => {
    const { shop, send, tee, add } = await useCart(kind)
    shop.catalog.sell({ variantId: tee, rule: { min: 6, max: 12, step: 6 } })
    const plain = await send('POST', '', { variant_id: tee, quantity: 3 })
    expect(plain.json).toMatchObject({ code: 'CART_QUANTITY_RULE', quantity_min: 6, quantity_step: 6 })
    const availableOf = ({ json }: { json: { items: { available: boolean }[] } }) =>
      json.items.slice(3).map(({ available }) => available)
    expect(availableOf(await add('Ada', 3, tee))).toEqual([false])
    const split = await add('Bob', 3, tee)
    expect(availableOf(split)).toEqual([true, true])
    const [ada, bob] = split.json.items.slice(3)
    expect(availableOf(await send('PATCH', `/lines/${ada.id}`, { quantity: 4 }))).toEqual([false, false])
    expect(availableOf(await send('PATCH', `/lines/${bob.id}`, { quantity: 2 }))).toEqual([true, true])
    const more = await send('PATCH', `/lines/${bob.id}`, { quantity: 9 })
    expect([more.json.code, more.json.quantity_max]).toEqual(['CART_QUANTITY_RULE', 12])
  })

  test('a quantity above stock, maximum and limit can be reduced line by line, and not raised', async () => {
    const limit = { CARTWRIGHT__CART__LINE_QUANTITY_MAX: '6' }
    const scarce = await useCart(kind, {}, 6)
    scarce.inventory.put(scarce.mug, 3)
    const ruled = await useCart(kind)
    ruled.shop.catalog.sell({ variantId: ruled.mug, rule: { min: 1, max: 3, step: 1 } })
    const limited = await useCart(kind, limit)
    await limited.shop.sql('update cart.items set quantity = quantity + 4 where id = $1', [limited.bob.id])
    for (const [{ send, ada, bob, add }, code] of [
      [scarce, 'CART_INSUFFICIENT_STOCK'],
      [ruled, 'CART_QUANTITY_RULE'],
      [limited, 'CART_QUANTITY_LIMIT']
    ] as const) {
      const reduced = await send('PATCH', `/lines/${ada.id}`, { quantity: 1 })
      expect([reduced.status, reduced.json.items[1].quantity]).toEqual([200, 1])
      for (const answer of [await send('PATCH', `/lines/${ada.id}`, { quantity: 2 }), await add('Cy')])
        expect([answer.status, answer.json.code]).toEqual([409, code])
      expect((await send('PATCH', `/lines/${bob.id}`, { quantity: 1 })).json.items[2].available).toBe(true)
    }
  })

  test('a line that is not for sale keeps its id and metadata, and its metadata can be changed', async () => {
    const { shop, send, mug, read, ada } = await useCart(kind)
    shop.catalog.withdraw(mug)
    const { unavailable_items: lines } = await read()
    expect(lines).toMatchObject([{ quantity: 1 }, { id: ada.id, metadata: { text: 'Ada' } }, { quantity: 3 }])
    const changed = await send('PATCH', `/lines/${ada.id}`, { metadata: { text: 'Cy' } })
    expect(changed.json.unavailable_items[1]).toMatchObject({ id: ada.id, metadata: { text: 'Cy' } })
    const more = await send('PATCH', `/lines/${ada.id}`, { quantity: 3 })
    expect([more.status, more.json.code]).toEqual([409, 'CART_VARIANT_UNAVAILABLE'])
  })

  test('the metadata of a line has at most ten keys, and that of a cart with its lines 16 kB', async () => {
    const { send, mug, ada, read } = await useCart(kind)
    const item = { variant_id: mug, quantity: 1 }
    const before = await read()
    for (const metadata of [many(11), { 'a[b]': 'x' }, { long: 'x'.repeat(501) }, { n: 1 }]) {
      const answer = await send('POST', '', { ...item, metadata })
      expect([answer.status, answer.json.code]).toEqual([400, 'VALIDATION_FAILED'])
    }
    const eleventh = await send('PATCH', `/lines/${ada.id}`, { metadata: many(10) })
    expect([eleventh.status, eleventh.json.code]).toEqual([400, 'METADATA_LIMIT'])
    expect(await read()).toEqual(before)

    expect((await send('PATCH', '', { metadata: many(10, 500) })).status).toBe(200)
    const full = await send('POST', '', { ...item, metadata: many(5, 500) })
    expect(full.status).toBe(200)
    for (const answer of [
      await send('POST', '', { ...item, metadata: many(6, 500) }),
      await send('PATCH', `/lines/${ada.id}`, { metadata: many(5, 500) }),
      await send('PATCH', '', { metadata: { more: 'é'.repeat(500), most: 'é'.repeat(500) } })
    ]) {
      expect([answer.status, answer.json.code]).toEqual([400, 'METADATA_LIMIT'])
    }
    expect((await read()).items).toEqual(full.json.items)
  })
})

test('a cart merge keeps different lines apart, merges equal ones and keeps the ids of moved lines', async () => {
  const { shop, mug, guestToken, ada, bob } = await useCart('guest')
  const token = newId()
  const body = { variant_id: mug, quantity: 4, metadata: { text: 'Bob' } }
  const own = (await shop.request('POST', '/api/cart', { token, body })).json.items[0].id
  const merge = { token, body: { guest_cart_token: guestToken } }
  const { json } = await shop.request('POST', '/api/cart/merge', merge)
  expect(contentsOf(json.items)).toEqual([
    [mug, 7, { text: 'Bob' }],
    [mug, 1, {}],
    [mug, 2, { text: 'Ada' }]
  ])
  const ids = json.items.map(({ id }: Line) => id)
  expect([ids[0], ids[2]]).toEqual([own, ada.id])
  expect(ids).not.toContain(bob.id)
  expect((await shop.request('GET', '/api/cart', { token })).json.items).toEqual(json.items)
})

test('items that a browser stored are merged line by line', async () => {
  const { shop, mug, token } = await useCart('customer')
  const items = ['Ada', 'Cy', 'Ada'].map(text => ({ variant_id: mug, quantity: 1, metadata: { text } }))
  const { json } = await shop.request('POST', '/api/cart/merge', { token, body: { items } })
  expect(contentsOf(json.items)).toEqual([
    [mug, 1, {}],
    [mug, 4, { text: 'Ada' }],
    [mug, 3, { text: 'Bob' }],
    [mug, 1, { text: 'Cy' }]
  ])
  expect(json.merge).toMatchObject({ moved: 2, adjustments: [] })
})

test('a merge that a limit reduces reports the metadata of each line', async () => {
  const limit = { CARTWRIGHT__CART__LINE_QUANTITY_MAX: '6' }
  const { shop, mug, token } = await useCart('customer', limit)
  const long = { text: 'Cy', ...many(9, 500) }
  const items = [{ variant_id: mug, quantity: 2, metadata: { text: 'Ada' } }]
  const { json } = await shop.request('POST', '/api/cart/merge', { token, body: { items } })
  expect(json.merge.adjustments).toEqual([
    { variant_id: mug, metadata: { text: 'Ada' }, requested: 4, granted: 2, reason: 'quantity_limit' }
  ])
  const others = [1, 2, 3].map(() => ({ variant_id: shop.catalog.sell(), quantity: 1, metadata: long }))
  const merged = await shop.request('POST', '/api/cart/merge', { token, body: { items: others } })
  expect(merged.json.merge).toMatchObject({
    moved: 1,
    adjustments: [
      { variant_id: others[1]?.variant_id, granted: 0, reason: 'metadata_limit' },
      { variant_id: others[2]?.variant_id, granted: 0, reason: 'metadata_limit' }
    ]
  })
})

test('emptying a cart deletes the metadata of its lines', async () => {
  const { shop, token, send, read } = await useCart('customer')
  const [row] = await shop.sql('select count(metadata)::int as count from cart.items where cart_id = $1', [
    token
  ])
  expect(row?.count).toBe(2)
  await send('DELETE', '')
  expect(await shop.sql('select id from cart.items where cart_id = $1', [token])).toEqual([])
  expect((await read()).items).toEqual([])
})
