import { expect, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { codesOf, itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { NewGuestCheckoutResponse } from './schema.ts'

shareShops()

const GUESTS = '/api/checkouts/guest'
const tokenOf = ({ checkout_token }: { checkout_token: string }) => ({ 'x-checkout-token': checkout_token })

test('a guest creates a checkout, and continues with the token of the response', async () => {
  const shop = await useCheckouts()
  await shop.usePost()
  const items = [itemOf(await shop.sell())]
  const { status, json, headers } = await shop.anonymous.post(GUESTS, { items, shipping_address: STOCKHOLM })
  expect(status).toBe(201)
  expect(compileAnswer(NewGuestCheckoutResponse)(json)).toEqual([])
  expect(headers['cache-control']).toBe('private, no-store')
  expect(String(headers.vary).toLowerCase()).toContain('x-checkout-token')
  expect(json).toMatchObject({ customer_id: null, ready: false, total: 1_490 })
  expect(codesOf(json)).toEqual(['EMAIL_MISSING'])
  const path = `${GUESTS}/${json.id}`
  const body = { items, shipping_address: STOCKHOLM, email: 'ada@example.com' }
  const changed = await shop.anonymous.put(path, body, { ...tokenOf(json), 'if-match': '"1"' })
  expect(changed.json).toMatchObject({ ready: true, version: 2, findings: [] })
  expect(changed.json).not.toHaveProperty('checkout_token')
  expect((await shop.anonymous.get(path, undefined, tokenOf(json))).json).toEqual(changed.json)
  const canceled = await shop.anonymous.post(`${path}/cancel`, undefined, tokenOf(json))
  expect([canceled.status, canceled.json.status]).toEqual([200, 'canceled'])
})

test("an incomplete e-mail address is stored, and blocks the guest's checkout until it is valid", async () => {
  const shop = await useCheckouts()
  await shop.usePost()
  const body = { items: [itemOf(await shop.sell())], shipping_address: STOCKHOLM }
  const { json: begun } = await shop.anonymous.post(GUESTS, { ...body, email: 'a' })
  const path = `${GUESTS}/${begun.id}`
  const put = async (email: string) =>
    (await shop.anonymous.put(path, { ...body, email }, tokenOf(begun))).json
  for (const email of [
    'a',
    'ada@',
    'ada@exa mple.com',
    '<ada@example.com>',
    `${'a'.repeat(300)}@example.com`
  ]) {
    const typing = await put(email)
    expect(typing).toMatchObject({
      email,
      ready: false,
      total: 1_490,
      shipping_address: { city: 'Stockholm' }
    })
    expect(typing.findings).toMatchObject([
      { code: 'EMAIL_INVALID', field: 'email', message: expect.stringContaining('must be'), blocking: true }
    ])
  }
  const { status, json } = await shop.anonymous.post(`${path}/complete`, {}, tokenOf(begun))
  expect([status, json.code, json.errors]).toMatchObject([400, 'ORDER_INCOMPLETE', [{ path: 'email' }]])
  expect(await put(' ')).toMatchObject({ email: null, findings: [{ code: 'EMAIL_MISSING' }] })
  expect(await put(' Ada@Example.COM')).toMatchObject({ email: 'ada@example.com', ready: true, findings: [] })
})

test("a guest's checkout of a cart reports a later change of the cart", async () => {
  const shop = await useCheckouts()
  await shop.usePost()
  const [mug, cup] = [await shop.sell(), await shop.sell()]
  const { json: cart } = await shop.anonymous.post('/api/guest-cart', itemOf(mug, 3))
  const body = {
    guest_cart_token: cart.guest_cart_token,
    shipping_address: STOCKHOLM,
    email: 'ada@example.com'
  }
  const { json } = await shop.anonymous.post(GUESTS, body)
  expect([json.ready, json.items.length, json.subtotal]).toEqual([true, 1, 3_000])
  const inCart = { 'x-guest-cart-token': cart.guest_cart_token as string }
  await shop.anonymous.post('/api/guest-cart', itemOf(cup), inCart)
  const read = () => shop.anonymous.get(`${GUESTS}/${json.id}`, undefined, tokenOf(json))
  expect(codesOf((await read()).json)).toEqual(['CART_CHANGED'])
  await shop.anonymous.put(`${GUESTS}/${json.id}`, body, tokenOf(json))
  expect((await read()).json).toMatchObject({ ready: true, subtotal: 4_000 })
  await shop.sql('delete from cart.carts')
  expect(codesOf((await read()).json)).toEqual(['CART_CHANGED'])
  for (const guest_cart_token of ['', 'gct_', `gct_${'A'.repeat(43)}`]) {
    const refused = await shop.anonymous.post(GUESTS, { guest_cart_token })
    expect([refused.status, refused.json.code]).toEqual([404, 'CART_GUEST_NOT_FOUND'])
  }
  const own = await shop.anonymous.post(GUESTS, { cart: true })
  expect([own.status, own.json.errors[0].path]).toEqual([400, 'body/cart'])
})

test('a retried guest checkout with the same idempotency key returns the same checkout and token', async () => {
  needsOwnShop()
  const shop = await useCheckouts()
  const key = (text: string) => ({ 'idempotency-key': text })
  const { json: cart } = await shop.anonymous.post('/api/guest-cart', itemOf(await shop.sell()))
  const body = { guest_cart_token: cart.guest_cart_token }
  const again = () => shop.anonymous.post(GUESTS, body, key('a-key-that-is-hard-to-guess'))
  const [first, ...others] = await Promise.all([again(), again(), again(), again(), again(), again()])
  await shop.anonymous.delete('/api/guest-cart', undefined, {
    'x-guest-cart-token': cart.guest_cart_token as string
  })
  const third = await again()
  expect(first.status).toBe(201)
  for (const { status, json } of [...others, third])
    expect([status, json.id, json.checkout_token]).toEqual([201, first.json.id, first.json.checkout_token])
  expect(codesOf(third.json)).toContain('CART_CHANGED')
  expect(await shop.sql('select id from orders.checkouts')).toHaveLength(1)

  const items = [itemOf(await shop.sell())]
  const put = () =>
    shop.anonymous.put(
      `${GUESTS}/${first.json.id}`,
      { items },
      { ...tokenOf(first.json), ...key('another-one') }
    )
  const versions = [(await put()).json.version, (await put()).json.version]
  expect(versions).toEqual([2, 2])
})

test('new checkouts are rate limited, and changes of a checkout are not', async () => {
  const shop = await useCheckouts({
    settings: { CARTWRIGHT__RATE_LIMIT__ENABLED: 'true', CARTWRIGHT__ORDERS__CHECKOUTS_PER_MINUTE: '2' }
  })
  const body = { items: [itemOf(await shop.sell())] }
  for (const [path, caller] of [
    [GUESTS, null],
    ['/api/checkouts', { token: 'customer' }]
  ] as const) {
    const buyer = shop.as(caller)
    const first = (await buyer.post(path, body)).json
    expect((await buyer.post(path, body)).status).toBe(201)
    const refused = await buyer.post(path, body)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, expect.stringMatching(/^\d+$/)])
    const change = await buyer.put(`${path}/${first.id}`, body, caller === null ? tokenOf(first) : {})
    expect(change.status).toBe(200)
  }
})
