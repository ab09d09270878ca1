import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

/** A shop in which orders are refused: each answer, and that nothing is left of them. */
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

test('an order that lacks an address, or a part of one, is refused with what is missing', async () => {
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

test('what cannot be bought is named, all of it', async () => {
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

test('of stock that is short, every line is named', async () => {
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

test('where nothing is sent to, and in a way that there is not, nothing is ordered', async () => {
  const { refused, mug } = await useRefusals()
  const items = [itemOf(mug)]
  const paris = { ...STOCKHOLM, country: 'FR', postal_code: '75001' }
  expect(await refused({ items, shipping_address: paris })).toMatchObject([409, 'SHIPPING_NOT_AVAILABLE', {}])
  const [status, code, json] = await refused({ ...sent(mug), shipping_option: 'gone' })
  expect([status, code]).toEqual([409, 'SHIPPING_NOT_AVAILABLE'])
  expect(json.options).toMatchObject([{ method: 'pickup' }, { service: 'Standard' }, { service: 'Express' }])
})

test('another total than the one that was agreed to is refused with the price as it is', async () => {
  const { refused, buyer, mug } = await useRefusals()
  const [status, code, json] = await refused({ ...sent(mug), expected_total: 1_489 })
  expect([status, code]).toEqual([409, 'ORDER_PRICE_CHANGED'])
  expect(json.quote).toMatchObject({ total: 1_490, currency: 'USD', items: [{ variant_id: mug }] })
  expect((await buyer.post('/api/orders', { ...sent(mug), expected_total: 1_490 })).status).toBe(201)
})

test('whoever is told another price is told of what there is not enough, too', async () => {
  const { refused, mug, stock } = await useRefusals()
  await stock(mug, 0)
  const [status, code, json] = await refused({ ...sent(mug), expected_total: 1_489 })
  expect([status, code]).toEqual([409, 'ORDER_PRICE_CHANGED'])
  expect(json.findings).toMatchObject([{ code: 'STOCK_SHORT', available: 0 }])
})

test('codes that take nothing off are refused, unless the total was seen with them', async () => {
  const { refused, buyer, mug } = await useRefusals()
  const body = { ...sent(mug), codes: ['NEVER'] }
  const [status, code, json] = await refused(body)
  expect([status, code]).toEqual([409, 'ORDER_CODE_REFUSED'])
  expect(json.findings).toMatchObject([{ code: 'CODE_UNKNOWN', promotion_code: 'NEVER' }])
  expect((await buyer.post('/api/orders', { ...body, expected_total: 1_490 })).status).toBe(201)
})

test('a provider or a method of payment that there is not leaves nothing, and stock is free again', async () => {
  const { refused, mug, stock, reserved } = await useRefusals()
  await stock(mug, 1)
  expect(await refused({ ...sent(mug), payment: { provider: 'nobody' } })).toMatchObject([
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

test('who has too many orders that wait for their money pays or cancels one first', async () => {
  const shop = await useRefusals({
    settings: { CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '2', CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '4' }
  })
  const order = (body: object = {}) => shop.buyer.post('/api/orders', { ...sent(shop.mug), ...body })
  const first = await order({ payment: TRANSFER })
  // All at once there are not more of them either.
  const others = await Promise.all(Array.from({ length: 4 }, () => order()))
  expect(others.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409])
  expect(await shop.refused(sent(shop.mug))).toMatchObject([409, 'ORDER_PENDING_LIMIT', { limit: 2 }])
  await shop.pay(first.json.id)
  expect((await order()).status).toBe(201)
  // Two of this customer wait, and two of others may from this address.
  for (const status of [201, 201, 409])
    expect((await shop.as(customer()).post('/api/orders', sent(shop.mug))).status).toBe(status)
})
