import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { describe, expect, test } from 'vitest'
import { dyingBehindCommit } from '../../../test/support/dying.ts'
import { needsOwnShop, shareShops } from '../../../test/support/shared-shops.ts'
import { type CartShop, quantitiesOf, storedCart, useCartShop } from '../../../test/support/use-cart-shop.ts'
import { newId } from '../../kernel/ids.ts'

shareShops()

const KEY = '8e03978e-40d5-43dd-bc93-6894a57f9324'
const OTHER_KEY = '0b0e6ab5-1c9f-4f5f-9d4e-8f2f0a1f7c11'

const read = async (shop: CartShop, token: string) =>
  (await shop.request('GET', '/api/cart', { token })).json as { count: number; version: number; items: [] }

/** Each write to a customer's cart of 3 mugs and a tee, and the cart after it. */
async function writes() {
  const shop = await useCartShop()
  const token = newId()
  const [mug, tee] = [shop.catalog.sell(), shop.catalog.sell()]
  let lineId = ''
  for (const [variant_id, quantity] of [
    [mug, 3],
    [tee, 1]
  ]) {
    const { json } = await shop.request('POST', '/api/cart', { token, body: { variant_id, quantity } })
    lineId = json.items[0].id
  }
  const guest = await shop.request('POST', '/api/guest-cart', { body: { variant_id: mug, quantity: 4 } })
  const line = { variant_id: mug, quantity: 2 }
  const send = (method: string, url: string, body?: unknown) => (key: string) =>
    shop.request(method, url, { token, body, headers: { 'idempotency-key': key } })
  const kinds = {
    add: { send: send('POST', '/api/cart', line), after: { [mug]: 5, [tee]: 1 } },
    set: { send: send('PUT', `/api/cart/items/${mug}`, { quantity: 7 }), after: { [mug]: 7, [tee]: 1 } },
    remove: { send: send('DELETE', `/api/cart/items/${mug}`), after: { [tee]: 1 } },
    'change of a line': {
      send: send('PATCH', `/api/cart/lines/${lineId}`, { quantity: 7, metadata: { text: 'Ada' } }),
      after: { [mug]: 7, [tee]: 1 }
    },
    'removal of a line': { send: send('DELETE', `/api/cart/lines/${lineId}`), after: { [tee]: 1 } },
    clear: { send: send('DELETE', '/api/cart'), after: {} },
    'merge of items': {
      send: send('POST', '/api/cart/merge', { items: [line] }),
      after: { [mug]: 5, [tee]: 1 }
    },
    'merge of a guest cart': {
      send: send('POST', '/api/cart/merge', { guest_cart_token: guest.json.guest_cart_token }),
      after: { [mug]: 7, [tee]: 1 }
    }
  }
  return { shop, token, mug, tee, kinds }
}
const kinds = [
  'add',
  'set',
  'remove',
  'change of a line',
  'removal of a line',
  'clear',
  'merge of items',
  'merge of a guest cart'
] as const

describe.each(kinds)('the cart write "%s"', kind => {
  test('a cart write retried after the process died before the response is not applied twice', async () => {
    const { shop, token, kinds, mug, tee } = await writes()
    const { send, after } = kinds[kind]
    await dyingBehindCommit(shop, () => send(KEY))
    // Meanwhile the customer changes the cart, and the variant is no longer for sale.
    await shop.request('DELETE', `/api/cart/items/${tee}`, { token })
    const withoutTee = Object.fromEntries(Object.entries(after).filter(([variantId]) => variantId !== tee))
    shop.catalog.withdraw(mug)
    const before = await storedCart(shop, token)
    const retried = await send(KEY)
    expect([retried.status, retried.json.items]).toEqual([200, []])
    const held = retried.json.unavailable_items as { variant_id: string; quantity: number }[]
    expect(Object.fromEntries(held.map(line => [line.variant_id, line.quantity]))).toEqual(withoutTee)
    if (kind.startsWith('merge'))
      expect(retried.json.merge).toMatchObject({ status: 'already_merged', moved: 0 })
    expect((await storedCart(shop, token)).items).toEqual(before.items)
    const replayed = await send(KEY)
    expect([replayed.headers['idempotency-replayed'], replayed.text]).toEqual(['true', retried.text])
  })

  test('ten concurrent cart writes with one idempotency key are applied once', async () => {
    const { shop, token, kinds } = await writes()
    const { send, after } = kinds[kind]
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(KEY)))
    const codes = answers.map(answer => answer.json.code ?? answer.status)
    expect(codes.filter(code => code !== 200 && code !== 'IDEMPOTENCY_KEY_IN_PROGRESS')).toEqual([])
    expect(codes).toContain(200)
    expect(quantitiesOf(await read(shop, token))).toEqual(after)
  })
})

test('of concurrent cart requests with different idempotency keys, each returns and replays its own response', async () => {
  const shop = await useCartShop()
  const variant_id = shop.catalog.sell()
  const callers = Array.from({ length: 40 }, () => ({ token: newId(), key: newId() }))
  const addAll = () =>
    Promise.all(
      callers.map(({ token, key }, index) =>
        shop.request('POST', '/api/cart', {
          token,
          headers: { 'idempotency-key': key },
          body: { variant_id, quantity: index + 1 }
        })
      )
    )
  const first = await addAll()
  for (const [index, { json }] of first.entries())
    expect(json).toMatchObject({ customer_id: callers[index]?.token, count: index + 1 })
  const again = await addAll()
  expect(again.map(({ text }) => text)).toEqual(first.map(({ text }) => text))
  for (const { headers } of again) expect(headers['idempotency-replayed']).toBe('true')
})

test('an idempotency key for a cart belongs to one customer and one route', async () => {
  const { shop, token, mug } = await writes()
  const stranger = newId()
  const headers = { 'idempotency-key': KEY }
  const body = { variant_id: mug, quantity: 1 }
  await shop.request('POST', '/api/cart', { token, headers, body })
  const theirs = await shop.request('POST', '/api/cart', { token: stranger, headers, body })
  expect(theirs.json).toMatchObject({ customer_id: stranger, count: 1 })
  const url = `/api/cart/items/${mug}`
  expect((await shop.request('PUT', url, { token, headers, body: { quantity: 9 } })).json.count).toBe(10)
})

test("a cart's domain error is stored and replayed for an idempotency key, and a malformed request is not", async () => {
  const { shop, token, mug } = await writes()
  const sends = (key: string, quantity: unknown) =>
    shop.request('POST', '/api/cart', {
      token,
      headers: { 'idempotency-key': key },
      body: { variant_id: mug, quantity }
    })
  const refused = await sends(KEY, 97)
  expect([refused.status, refused.json.code]).toEqual([409, 'CART_QUANTITY_LIMIT'])
  await shop.request('DELETE', '/api/cart', { token })
  const again = await sends(KEY, 97)
  expect([again.status, again.headers['idempotency-replayed']]).toEqual([409, 'true'])
  expect((await sends(OTHER_KEY, 0)).status).toBe(400)
  expect((await sends(OTHER_KEY, 97)).status).toBe(200)
})

test('a cart request whose idempotency lease was taken over changes nothing', async () => {
  needsOwnShop()
  let waiting: (() => void) | undefined
  let holding = false
  const shop = await useCartShop()
  const token = newId()
  const mug = shop.catalog.sell()
  const { offers } = shop.catalog
  shop.catalog.offers = async (...asked) => {
    if (!holding) return offers(...asked)
    holding = false
    await new Promise<void>(resolve => {
      waiting = resolve
    })
    return offers(...asked)
  }
  const add = () =>
    shop.request('POST', '/api/cart', {
      token,
      headers: { 'idempotency-key': KEY },
      body: { variant_id: mug, quantity: 1 }
    })
  holding = true
  const slow = add()
  await expect.poll(() => waiting).toBeDefined()
  expect((await add()).json.code).toBe('IDEMPOTENCY_KEY_IN_PROGRESS')
  await shop.sql(`update cartwright.idempotency_keys set lease_until = now() - interval '1 second'`)
  const second = await add()
  expect([second.status, second.json.count]).toEqual([200, 1])
  waiting?.()
  const first = await slow
  expect([first.status, first.json.code]).toEqual([409, 'IDEMPOTENCY_KEY_IN_PROGRESS'])
  expect(await read(shop, token)).toMatchObject({ count: 1, version: 1 })
  const replayed = await add()
  expect([replayed.headers['idempotency-replayed'], replayed.text]).toEqual(['true', second.text])
})

test('a cart request whose connection was cut is applied once, however often it is retried', async () => {
  const shop = await useCartShop()
  await shop.app.listen({ host: '127.0.0.1', port: 0 })
  const { port } = shop.app.server.address() as AddressInfo
  const token = newId()
  const mug = shop.catalog.sell()
  const body = JSON.stringify({ variant_id: mug, quantity: 1 })
  const cut = async (key: string) => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    const head = `POST /api/cart HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\nIdempotency-Key: ${key}`
    const length = `Content-Type: application/json\r\nContent-Length: ${body.length}`
    await new Promise(resolve => socket.write(`${head}\r\n${length}\r\n\r\n${body}`, resolve))
    socket.destroy()
  }
  for (let round = 0; round < 10; round += 1) {
    const key = `key-${round}`
    await Promise.all([cut(key), cut(key)])
    const retry = async () => {
      const headers = { 'idempotency-key': key }
      return (await shop.request('POST', '/api/cart', { token, headers, body })).status
    }
    await expect.poll(retry).toBe(200)
  }
  expect(await read(shop, token)).toMatchObject({ count: 10, version: 10 })
})

describe('retries of a guest', () => {
  const create = (shop: CartShop, variantId: string, key = KEY) =>
    shop.request('POST', '/api/guest-cart', {
      headers: { 'idempotency-key': key },
      body: { variant_id: variantId, quantity: 1 }
    })

  test("a guest's first addition, when retried, returns the same token of one cart", async () => {
    needsOwnShop()
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    const [first, again] = [await create(shop, mug), await create(shop, mug)]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.json.guest_cart_token).toBe(first.json.guest_cart_token)
    expect((await shop.sql('select 1 from cart.guest_carts')).length).toBe(1)
    // The token is not stored: it is derived from the cart's id again.
    expect(await shop.sql('select answer from cartwright.idempotency_keys')).toEqual([{ answer: null }])
  })

  test("a guest's first addition, retried after a lost response, returns access to its cart", async () => {
    const shop = await useCartShop()
    const [mug, key] = [shop.catalog.sell(), newId()]
    await dyingBehindCommit(shop, () => create(shop, mug, key))
    const retried = await create(shop, mug, key)
    expect([retried.status, retried.json.count]).toEqual([201, 1])
    const headers = { 'x-guest-cart-token': retried.json.guest_cart_token as string }
    expect((await shop.request('GET', '/api/guest-cart', { headers })).json.count).toBe(1)
    expect((await create(shop, mug, key)).text).toBe(retried.text)
  })

  test("a guest's later addition, retried after a lost response, is not applied twice", async () => {
    const shop = await useCartShop()
    const mug = shop.catalog.sell()
    const { json } = await create(shop, mug, newId())
    const headers = { 'x-guest-cart-token': json.guest_cart_token, 'idempotency-key': OTHER_KEY }
    const add = () =>
      shop.request('POST', '/api/guest-cart', { headers, body: { variant_id: mug, quantity: 1 } })
    expect((await dyingBehindCommit(shop, add)).json.count).toBe(2)
    expect((await add()).json).toMatchObject({ count: 2, version: 2 })
  })
})
