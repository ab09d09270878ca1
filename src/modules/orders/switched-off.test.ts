import { expect, test } from 'vitest'
import { codesOf, itemOf, STOCKHOLM, useCheckouts } from '../../../test/support/checkouts.ts'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'
import { customer } from '../../testing.ts'

test('with the module switched off its paths say so', async () => {
  const shop = await useShop({ settings: { CARTWRIGHT__MODULES__ORDERS__ENABLED: 'false' } })
  const anybody = shop.as(null)
  const answers = await Promise.all([
    anybody.post('/api/checkouts', {}),
    anybody.post('/api/checkouts/guest', {}),
    anybody.get(`/api/checkouts/guest/${newId()}`),
    anybody.get('/api/orders'),
    anybody.post('/api/orders/guest', {})
  ])
  for (const { status, json } of answers)
    expect([status, json]).toEqual([503, { error: expect.stringContaining('modules.orders.enabled') }])
  expect((await anybody.get('/api/products')).status).toBe(200)
})

test('without shipping, delivery is no part of the price, and a finding says so', async () => {
  const shop = await useCheckouts({ off: ['shipping'] })
  const [mug, code] = [await shop.sell(), await shop.sell({ requires_shipping: false })]
  const buyer = shop.as(customer())
  const { json } = await buyer.post('/api/checkouts', { items: [itemOf(mug)], shipping_address: STOCKHOLM })
  expect(json).toMatchObject({ ready: true, total: 1_000, shipping_total: 0 })
  expect(json.groups).toMatchObject([{ method: 'shipping', shipping_option: null, options: [] }])
  expect(json.findings).toMatchObject([{ code: 'DELIVERY_NOT_INCLUDED', blocking: false }])
  const { json: nowhere } = await buyer.post('/api/checkouts', { items: [itemOf(mug)] })
  expect([nowhere.ready, codesOf(nowhere)]).toEqual([false, ['ADDRESS_MISSING', 'DELIVERY_NOT_INCLUDED']])
  const { json: digital } = await buyer.post('/api/checkouts', { items: [itemOf(code)] })
  expect(digital).toMatchObject({ ready: true, findings: [] })
})

test('without inventory as many can be bought as a line may have', async () => {
  const shop = await useCheckouts({ off: ['inventory'] })
  await shop.usePost()
  const body = { items: [itemOf(await shop.sell(), 99)], shipping_address: STOCKHOLM }
  const { json } = await shop.as(customer()).post('/api/checkouts', body)
  expect(json).toMatchObject({ ready: true, findings: [] })
})

test('without carts, items can be bought', async () => {
  const shop = await useCheckouts({ off: ['cart'] })
  await shop.usePost()
  const buyer = shop.as(customer())
  const refused = [
    await buyer.post('/api/checkouts', { cart: true }),
    await shop.anybody.post('/api/checkouts/guest', { guest_cart_token: 'gct_' })
  ]
  for (const { status, json } of refused) expect([status, json.code]).toEqual([409, 'CHECKOUT_CARTS_OFF'])
  const body = { items: [itemOf(await shop.sell(), 1_000_000)], shipping_address: STOCKHOLM }
  expect((await buyer.post('/api/checkouts', body)).json.ready).toBe(true)
})

test.each(['catalog', 'pricing'])('without %s, nothing starts', async name => {
  await expect(useCheckouts({ off: [name] })).rejects.toThrow(`module orders requires module ${name}`)
})
