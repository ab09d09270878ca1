import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

shareShops()

/** A shop in which orders are rejected: returns each response, and asserts that nothing was stored. */
async function useRefusals(options: Parameters<typeof useOrders>[0] = {}) {
  const shop = await useOrders(options)
  const buyer = shop.as(customer())
  const refused = async (body: object) => {
    const before = await shop.traces()
    const { status, json, text } = await buyer.post('/api/orders', body)
    expect(status, text).toBeGreaterThanOrEqual(400)
    expect(await shop.traces()).toEqual(before)
    return [status, json.code, json]
  }
  return { ...shop, buyer, refused }
}

test('an order with a missing or incomplete address is rejected with the missing fields', async () => {
  const { refused, mug } = await useRefusals()
  const items = [itemOf(mug)]
  const faults = async (body: object) => {
    const [status, code, json] = await refused({ items, ...body })
    return [status, code, json.errors.map(({ path }: { path: string }) => path)]
  }
  expect(await faults({})).toEqual([400, 'ORDER_INCOMPLETE', ['body/shipping_address']])
  const { name: _, ...nameless } = STOCKHOLM
  expect(
    await faults({ shipping_address: { ...nameless, postal_code: 'x' }, billing_address: { country: 'DE' } })
  ).toEqual([
    400,
    'ORDER_INCOMPLETE',
    [
      'body/shipping_address/name',
      'body/shipping_address/postal_code',
      'body/billing_address/name',
      'body/billing_address/line1',
      'body/billing_address/city',
      'body/billing_address/postal_code'
    ].map(path => expect.stringContaining(path))
  ])
})

test('an order with items that cannot be bought is rejected with all of them', async () => {
  const { refused, mug, sell, admin } = await useRefusals()
  const gone = await sell()
  await admin.patch(`/api/catalog/variants/${mug}`, { quantity_min: 2 })
  await admin.delete(`/api/catalog/variants/${gone}`)
  const unknown = newId()
  const items = [itemOf(mug), itemOf(gone), itemOf(unknown)]
  const [status, code, json] = await refused({ items, shipping_address: STOCKHOLM })
  expect([status, code]).toEqual([409, 'ORDER_ITEMS_UNAVAILABLE'])
  expect(json.items).toMatchObject([
    { variant_id: mug, code: 'QUANTITY_RULE', quantity_min: 2 },
    { variant_id: gone, code: 'VARIANT_UNAVAILABLE' },
    { variant_id: unknown, code: 'VARIANT_UNAVAILABLE' }
  ])
})

test('an order that is short of stock is rejected with every such line', async () => {
  const { refused, mug, sell, stock } = await useRefusals()
  const [pot, cup] = [await sell(), await sell()]
  await stock(mug, 2)
  await stock(pot, 5)
  await stock(cup, 0)
  const items = [itemOf(mug, 3), itemOf(pot, 5), itemOf(cup, 1)]
  const [status, code, json] = await refused({ items, shipping_address: STOCKHOLM })
  expect([status, code]).toEqual([409, 'INVENTORY_SHORT'])
  expect(json.items).toEqual(
    expect.arrayContaining([
      { variant_id: mug, requested: 3, available: 2, message: 'There is not enough of this.' },
      { variant_id: cup, requested: 1, available: 0, message: 'This is sold out.' }
    ])
  )
  expect(json.items).toHaveLength(2)
})

test('an order that cannot be delivered to its address, or with an unknown shipping option, is rejected', async () => {
  const { refused, mug } = await useRefusals()
  const items = [itemOf(mug)]
  const paris = { ...STOCKHOLM, country: 'FR', postal_code: '75001' }
  expect(await refused({ items, shipping_address: paris })).toMatchObject([409, 'SHIPPING_NOT_AVAILABLE', {}])
  const [status, code, json] = await refused({ ...sent(mug), shipping_option: 'gone' })
  expect([status, code]).toEqual([409, 'SHIPPING_NOT_AVAILABLE'])
  expect(json.options).toMatchObject([{ method: 'pickup' }, { service: 'Standard' }, { service: 'Express' }])
})

test('an order with another total than the expected one is rejected with the current price', async () => {
  const { refused, buyer, mug } = await useRefusals()
  const [status, code, json] = await refused({ ...sent(mug), expected_total: 1_489 })
  expect([status, code]).toEqual([409, 'ORDER_PRICE_CHANGED'])
  expect(json.quote).toMatchObject({ total: 1_490, currency: 'USD', items: [{ variant_id: mug }] })
  expect((await buyer.post('/api/orders', { ...sent(mug), expected_total: 1_490 })).status).toBe(201)
})

test('an order rejected because its price changed also names lines that are short of stock', async () => {
  const { refused, mug, stock } = await useRefusals()
  await stock(mug, 0)
  const [status, code, json] = await refused({ ...sent(mug), expected_total: 1_489 })
  expect([status, code]).toEqual([409, 'ORDER_PRICE_CHANGED'])
  expect(json.findings).toMatchObject([{ code: 'STOCK_SHORT', available: 0 }])
})

test('an order whose promotion codes have no effect is rejected, unless the expected total includes that', async () => {
  const { refused, buyer, mug } = await useRefusals()
  const body = { ...sent(mug), codes: ['NEVER'] }
  const [status, code, json] = await refused(body)
  expect([status, code]).toEqual([409, 'ORDER_CODE_REFUSED'])
  expect(json.findings).toMatchObject([{ code: 'CODE_UNKNOWN', promotion_code: 'NEVER' }])
  expect((await buyer.post('/api/orders', { ...body, expected_total: 1_490 })).status).toBe(201)
})

test('an order with an unknown payment provider or method is not stored, and its stock is released', async () => {
  const { refused, mug, stock, reserved } = await useRefusals()
  await stock(mug, 1)
  expect(await refused({ ...sent(mug), payment: { provider: 'unknown' } })).toMatchObject([
    404,
    'PAYMENT_PROVIDER_UNKNOWN',
    {}
  ])
  for (const method of ['seashells', 'constructor', '__proto__'])
    expect(await refused({ ...sent(mug), payment: { ...TRANSFER, method } })).toMatchObject([
      400,
      'PAYMENT_METHOD_UNKNOWN',
      {}
    ])
  expect(await reserved(mug)).toEqual([])
})

test('the number of pending orders is limited per buyer and per network', async () => {
  const shop = await useRefusals({
    settings: { CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '2', CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '4' }
  })
  const order = (body: object = {}) => shop.buyer.post('/api/orders', { ...sent(shop.mug), ...body })
  const first = await order({ payment: TRANSFER })
  // Concurrent orders do not exceed the limit either.
  const others = await Promise.all(Array.from({ length: 4 }, () => order()))
  expect(others.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
  expect(await shop.refused(sent(shop.mug))).toMatchObject([409, 'ORDER_PENDING_LIMIT', { limit: 2 }])
  await shop.pay(first.json.id)
  expect((await order()).status).toBe(201)
  // Two orders of this customer are pending, so two of other customers are allowed from this address.
  for (const status of [201, 201, 409])
    expect((await shop.as(customer()).post('/api/orders', sent(shop.mug))).status).toBe(status)
})
