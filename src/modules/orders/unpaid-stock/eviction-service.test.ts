import { expect, test } from 'vitest'
import { useEvictions } from '../../../../test/support/evictions.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { CARD } from '../../../../test/support/paid-orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'

shareShops()

const by = (method: string) => ({ provider: 'manual', method })

test('a buyer who pays by card gets units that an unpaid order reserves, and that order is canceled', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 3)
  const unpaid = await shop.transfer(3)
  const card = await shop.card(2)
  // Until the card is charged, no order loses units.
  expect([await shop.unitsOf(unpaid), await shop.unitsOf(card)]).toEqual([3, 0])
  expect(await shop.contested()).toEqual([{ owner: card, quantity: 2 }])
  await shop.payCard(card)
  await shop.becomes(card, { status: 'paid' })
  expect(await shop.unitsOf(card)).toBe(2)
  await shop.becomesState(unpaid, 'canceled')
  await expect.poll(() => shop.unitsOf(unpaid)).toBe(0)
  await expect.poll(() => shop.contested()).toEqual([])
  expect((await shop.read(unpaid)).history.at(-1)).toMatchObject({ action: 'confirm_cancel' })
  await shop.proveStock()
})

test.each(['automatic', 'manual'] as const)(
  'of two card buyers who pay for one unit of an unpaid order, the second is refunded (capture: %s)',
  async capture => {
    const shop = await useEvictions({ capture })
    await shop.stock(shop.mug, 1)
    const unpaid = await shop.card(1)
    const [first, second] = [await shop.card(1, '198.51.100.2'), await shop.card(1, '198.51.100.3')]
    await shop.payCard(first)
    await shop.becomes(first, { status: 'paid' })
    expect(await shop.unitsOf(unpaid)).toBe(0)
    await shop.act(second, 'pay')
    // The buyer returns from the payment, and gets the outcome immediately.
    const back = await shop.confirm(second)
    expect(back).toMatchObject({ status: 409, json: { code: 'INVENTORY_SHORT' } })
    expect(back.json.items).toMatchObject([{ variant_id: shop.mug, requested: 1, available: 0 }])
    await shop.becomesState(second, 'canceled')
    await shop.settled()
    const [account] = await shop.sql(
      'select captured - refunded as kept, authorized from payments.accounts where order_id = $1',
      [second]
    )
    expect(account).toEqual({ kept: 0, authorized: 0 })
    // A card order that lost its units is not canceled, because it takes others once it is paid.
    expect(await shop.stateOf(unpaid)).toBe('pending')
    await shop.stock(shop.mug, 2)
    await shop.payCard(unpaid)
    await shop.becomes(unpaid, { status: 'paid' })
    expect(await shop.unitsOf(unpaid)).toBe(1)
    await shop.proveStock()
  }
)

test('a card order that is never paid takes no units of unpaid orders, and releases none when it is canceled', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 2)
  const unpaid = await shop.transfer(2)
  const card = await shop.card(2)
  await shop.act(card, 'fail')
  await shop.callBack(card)
  await shop.does(card, 'cancel')
  await shop.becomesState(card, 'canceled')
  await expect.poll(() => shop.contested()).toEqual([])
  expect([await shop.unitsOf(unpaid), await shop.stateOf(unpaid)]).toEqual([2, 'pending'])
  await shop.proveStock()
})

test("a verified buyer's unpaid orders keep the protected units, and lose others after all unverified buyers", async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 8)
  const buyer = shop.verified()
  const verified = shop.made(await buyer.post('/api/orders', { ...sent(shop.mug, 5), payment: TRANSFER }))
  const guest = await shop.transfer(3)
  const [first, second] = [await shop.card(3), await shop.card(2, '198.51.100.2')]
  await shop.payCard(first)
  await shop.becomes(first, { status: 'paid' })
  await shop.becomesState(guest, 'canceled')
  expect(await shop.unitsOf(verified)).toBe(5)
  await shop.payCard(second)
  await shop.becomes(second, { status: 'paid' })
  await expect.poll(async () => (await shop.read(verified)).items[0].canceled).toBe(2)
  expect(await shop.unitsOf(verified)).toBe(3)
  // No units are left to take.
  const refused = await shop.asGuest(1, CARD, '198.51.100.3')
  expect([refused.status, refused.json.code]).toEqual([409, 'INVENTORY_SHORT'])
  // The rest of the order keeps its expiry, and can be paid.
  const order = await shop.read(verified)
  expect(Date.parse(order.expires_at) - Date.parse(order.created_at)).toBeGreaterThan(86_000_000)
  await buyer.post('/api/payments/intent', { order_id: verified, ...TRANSFER })
  const payment = (
    await shop.sql('select id from payments.payments where order_id = $1 and is_open', [verified])
  )[0]
  const captured = await shop.admin.post(`/api/admin/payments/${payment?.id}/capture`, {})
  expect(captured.status, captured.text).toBe(200)
  await shop.becomes(verified, { status: 'paid' })
  expect(await shop.unitsOf(verified)).toBe(3)
  await shop.proveStock()
})

test.each(['cash_on_delivery', 'on_account'])(
  'a placed order by %s can lose its units to a card buyer while it is not paid, and not once it is',
  async method => {
    const shop = await useEvictions()
    await shop.stock(shop.mug, 2)
    const later = async () => shop.made(await shop.asGuest(1, by(method), '192.0.2.9'))
    const [paid, unpaid] = [await later(), await later()]
    await shop.admin.post(
      `/api/admin/payments/${(await shop.sql('select id from payments.payments where order_id = $1', [paid]))[0]?.id}/capture`,
      {}
    )
    const card = await shop.card(1)
    await shop.payCard(card)
    await shop.becomes(card, { status: 'paid' })
    await shop.becomesState(unpaid, 'canceled')
    expect([await shop.stateOf(paid), await shop.unitsOf(paid)]).toEqual(['placed', 1])
    const refused = await shop.asGuest(1, CARD, '198.51.100.3')
    expect(refused.json.code).toBe('INVENTORY_SHORT')
    await shop.proveStock()
  }
)

test('unpaid orders of administrators and partially shipped orders lose no units to card buyers', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 3)
  const assisted = await shop.made(
    await shop.admin.post('/api/admin/orders', {
      ...sent(shop.mug, 1),
      email: 'phone@example.com',
      payment: by('on_account')
    })
  )
  const shipped = shop.made(await shop.asGuest(2, by('on_account'), '192.0.2.9'))
  await shop.does(shipped, 'shipments', { lines: [{ line: 1, quantity: 1 }] })
  const refused = await shop.asGuest(1, CARD, '198.51.100.3')
  expect(refused.json.code).toBe('INVENTORY_SHORT')
  expect(await shop.unitsOf(assisted)).toBe(1)
})

test('an order paid later takes no units of unpaid orders, and an order that would take some cannot be paid later', async () => {
  const shop = await useEvictions()
  await shop.stock(shop.mug, 1)
  await shop.transfer(1)
  for (const payment of [TRANSFER, by('cash_on_delivery'), { provider: 'manual' }]) {
    const refused = await shop.asGuest(1, payment, '192.0.2.2')
    expect([refused.status, refused.json.code]).toEqual([409, 'INVENTORY_SHORT'])
  }
  const buyer = shop.verified()
  const id = shop.made(await buyer.post('/api/orders', { ...sent(shop.mug), payment: CARD }))
  const refused = await buyer.post('/api/payments/intent', { order_id: id, ...TRANSFER })
  expect([refused.status, refused.json.code]).toEqual([409, 'INVENTORY_SHORT'])
  expect(refused.json.items).toMatchObject([{ variant_id: shop.mug, requested: 1, available: 0 }])
})

test('the units of unpaid orders that pending card orders of one network can take are limited', async () => {
  const shop = await useEvictions({ settings: { CARTWRIGHT__ORDERS__UNPAID_STOCK__CONTESTED_UNITS: '5' } })
  await shop.stock(shop.mug, 4)
  await shop.transfer(4)
  const first = await shop.card(3)
  const refused = await shop.asGuest(3, CARD, '198.51.100.1')
  expect(refused.json).toMatchObject({ code: 'ORDER_UNPAID_STOCK_LIMIT', scope: 'network', limit: 5 })
  await shop.card(2)
  await shop.card(3, '198.51.100.2')
  await shop.does(first, 'cancel')
  await shop.becomesState(first, 'canceled')
  await shop.card(3)
})

test('unpaid card orders of a network keep its protected units for the minutes in which their buyers pay', async () => {
  const settings = { CARTWRIGHT__ORDERS__UNPAID_STOCK__CARD_MINUTES: '10' }
  const shop = await useEvictions({ settings })
  await shop.stock(shop.mug, 6)
  const [first, second] = [await shop.card(2, '192.0.2.1'), await shop.card(4, '192.0.2.1')]
  // The first three of these six units are protected.
  const refused = await shop.asGuest(4, CARD, '198.51.100.1')
  expect(refused.json).toMatchObject({ code: 'INVENTORY_SHORT' })
  const card = await shop.card(3, '198.51.100.1')
  await shop.payCard(card)
  await shop.becomes(card, { status: 'paid' })
  expect([await shop.unitsOf(first), await shop.unitsOf(second)]).toEqual([2, 1])
  await shop.sql("update orders.orders set created_at = created_at - interval '11 minutes' where id = $1", [
    first
  ])
  await shop.card(2, '198.51.100.2')
  await shop.proveStock()
})
