import { expect, test } from 'vitest'
import { giftCardsModule } from '../../../../examples/gift-cards/gift-cards/index.ts'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { giftCard as card, GIFT_CARD_SETTINGS, giftCardsIn } from '../../../../test/support/gift-cards.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { customer, openTestShop } from '../../../testing.ts'

shareShops()

/** A shop with cards. A mug costs 10.00, and its delivery 4.90. */
async function useCards() {
  const shop = await useOrders({
    modules: [...CHECKOUT_MODULES, giftCardsModule],
    settings: GIFT_CARD_SETTINGS
  })
  const buyer = shop.as(customer())
  const manage = (id: string, what: string, body: object) =>
    shop.admin.post(`/api/admin/orders/${id}/${what}`, body)
  return {
    ...shop,
    ...giftCardsIn(shop.sql),
    buyer,
    order: (body: object) => buyer.post('/api/orders', { ...sent(shop.mug), payment: TRANSFER, ...body }),
    read: async (id: string) => (await buyer.get(`/api/orders/${id}`)).json,
    manage,
    dueOf: async (id: string) => {
      const [row] = await shop.sql('select due::int from payments.accounts where order_id = $1', [id])
      return row?.due
    }
  }
}

test('a tender covers a part of an order, and the rest is due', async () => {
  const { issue, balanceOf, order, read, dueOf, pay, admin } = await useCards()
  const code = await issue(600)
  const { status, json, text } = await order({ tenders: [card(code)] })
  expect(status, text).toBe(201)
  expect(text).not.toContain(code)
  const tenders = [
    {
      id: expect.any(String),
      type: 'gift_card',
      label: `•••• ${code.slice(-4)}`,
      amount: 600,
      refunded: 0
    }
  ]
  expect(json).toMatchObject({ total: 1_490, status: 'pending', payment_status: 'unpaid', tenders })
  expect([await balanceOf(code), await dueOf(json.id)]).toEqual([0, 890])
  await pay(json.id)
  expect(await read(json.id)).toMatchObject({ status: 'paid', payment_status: 'paid', tenders })
  const seen = await admin.get(`/api/admin/orders/${json.id}`)
  expect(seen.json.tenders).toEqual(tenders)
  expect(seen.text).not.toContain(code)
})

test('an order that tenders cover whole is placed as paid', async () => {
  const { issue, balanceOf, order, dueOf } = await useCards()
  const [small, large] = [await issue(500), await issue(5_000)]
  const { json, text } = await order({ tenders: [card(small), card(large), card('not needed')] })
  expect(json, text).toMatchObject({
    status: 'paid',
    payment_status: 'paid',
    tenders: [{ amount: 500 }, { amount: 990 }]
  })
  expect([await balanceOf(small), await balanceOf(large), await dueOf(json.id)]).toEqual([0, 4_010, 0])
})

test('a tender that cannot cover its part stops the order, and nothing is taken', async () => {
  const { issue, balanceOf, order, orders } = await useCards()
  const [code, empty, foreign] = [await issue(600), await issue(0), await issue(1_000, 'EUR')]
  const refused = async (...tenders: object[]) => {
    const { status, json } = await order({ tenders })
    return [status, json.code, json.available ?? json.types]
  }
  expect(await refused(card(code, 601))).toEqual([409, 'ORDER_TENDER_SHORT', 600])
  expect(await refused(card(code, 100), card(empty))).toEqual([409, 'GIFT_CARD_UNKNOWN', undefined])
  expect(await refused(card(code), card('unknown'))).toEqual([409, 'GIFT_CARD_UNKNOWN', undefined])
  expect(await refused(card(code), card(foreign))).toEqual([409, 'GIFT_CARD_UNKNOWN', undefined])
  expect(await refused({ type: 'gold', code })).toEqual([400, 'ORDER_TENDER_TYPE_UNKNOWN', ['gift_card']])
  expect(await refused(...Array.from({ length: 11 }, () => card(code, 1)))).toMatchObject([
    400,
    'VALIDATION_FAILED',
    undefined
  ])
  expect([await orders(), await balanceOf(code)]).toEqual([[], 600])
  // Released reservations are available again.
  expect((await order({ tenders: [card(code, 600)] })).status).toBe(201)
})

test('a canceled order gives each tender back what it gave', async () => {
  const { issue, balanceOf, order, buyer, pay } = await useCards()
  const [one, other] = [await issue(300), await issue(400)]
  for (const isPaid of [false, true]) {
    const { json } = await order({ tenders: [card(one), card(other)] })
    expect([await balanceOf(one), await balanceOf(other)]).toEqual([0, 0])
    if (isPaid) await pay(json.id)
    const { json: canceled } = await buyer.post(`/api/orders/${json.id}/cancel`)
    expect(canceled).toMatchObject({
      status: 'canceled',
      payment_status: 'refunded',
      tenders: [{ refunded: 300 }, { refunded: 400 }],
      adjustments: [{ amount: 1_490, back: isPaid ? 1_490 : 700 }]
    })
    expect([await balanceOf(one), await balanceOf(other)]).toEqual([300, 400])
  }
})

test('an order that expires gives its tenders back', async () => {
  const { issue, balanceOf, order, read, sql } = await useCards()
  const code = await issue(300)
  const { json } = await order({ tenders: [card(code)] })
  await sql(
    `update orders.orders set created_at = created_at - interval '8 days', expires_at = now() - interval '1 day'`
  )
  await sql(`update cartwright.jobs set due_at = now() where lease is null`)
  await expect.poll(async () => (await read(json.id)).status, { timeout: 60_000 }).toBe('canceled')
  expect(await balanceOf(code)).toBe(300)
})

test('a refund returns to the payment first, and then to the tenders, the last one first', async () => {
  const { issue, balanceOf, order, read, pay, manage, record } = await useCards()
  const [one, other] = [await issue(300), await issue(400)]
  const { json } = await order({ tenders: [card(one), card(other)] })
  await pay(json.id)
  await manage(json.id, 'shipments', {})
  const refund = async (amount: number) => {
    const { statements } = await record(() => manage(json.id, 'refunds', { amount, reason: 'a scratch' }))
    const locks = statements.filter(name => name === 'payments.lock_account').length
    const { tenders, payment_status, adjustments } = await read(json.id)
    expect(adjustments.at(-1)).toMatchObject({ amount, back: amount })
    return [locks, payment_status, ...tenders.map(({ refunded }: { refunded: number }) => refunded)]
  }
  expect((await refund(790)).slice(1)).toEqual(['partially_refunded', 0, 0])
  // Without a payment to refund, the only lock is that of the refund itself.
  expect(await refund(100)).toEqual([1, 'partially_refunded', 0, 100])
  expect(await refund(350)).toEqual([1, 'partially_refunded', 50, 400])
  expect(await refund(250)).toEqual([1, 'refunded', 300, 400])
  expect([await balanceOf(one), await balanceOf(other)]).toEqual([300, 400])
})

test('a wholly covered order that is refunded becomes refunded', async () => {
  const { issue, balanceOf, order, read, manage } = await useCards()
  const code = await issue(2_000)
  const { json } = await order({ tenders: [card(code)] })
  await manage(json.id, 'refunds', { amount: 490, reason: 'late' })
  expect(await read(json.id)).toMatchObject({
    payment_status: 'partially_refunded',
    tenders: [{ amount: 1_490, refunded: 490 }]
  })
  await manage(json.id, 'refunds', { amount: 1_000, reason: 'late' })
  expect(await read(json.id)).toMatchObject({ payment_status: 'refunded' })
  expect(await balanceOf(code)).toBe(2_000)
})

test('guests, checkouts and administrators place orders with tenders', async () => {
  const shop = await useCards()
  const { issue, mug, anonymous, admin, buyer, balanceOf } = shop
  const code = await issue(50)
  const tenders = [card(code, 10)]
  const body = { ...sent(mug), email: 'ada@example.com', tenders }
  const shown = { tenders: [{ type: 'gift_card', amount: 10 }] }
  const guest = await anonymous.post('/api/orders/guest', body)
  expect(guest.json, guest.text).toMatchObject(shown)
  const assisted = await admin.post('/api/admin/orders', body)
  expect(assisted.json, assisted.text).toMatchObject(shown)
  const { json: checkout } = await buyer.post('/api/checkouts', sent(mug))
  const completed = await buyer.post(`/api/checkouts/${checkout.id}/complete`, { tenders })
  expect(completed.json, completed.text).toMatchObject(shown)
  const again = await buyer.post(`/api/checkouts/${checkout.id}/complete`, { tenders })
  expect([again.status, again.json.id]).toEqual([200, completed.json.id])
  const { json: own } = await anonymous.post('/api/checkouts/guest', { ...sent(mug), email: body.email })
  const token = { 'x-checkout-token': own.checkout_token }
  const finished = await anonymous.post(`/api/checkouts/guest/${own.id}/complete`, { tenders }, token)
  expect(finished.json, finished.text).toMatchObject(shown)
  expect(await balanceOf(code)).toBe(10)
})

test('a shop does not start without a tender provider while open orders hold its tenders', async () => {
  needsOwnShop()
  const { issue, order, manage, databaseUrl } = await useCards()
  const start = async () => {
    const without = await openTestShop({ modules: CHECKOUT_MODULES, databaseUrl, isMigrated: true })
    await without.close()
  }
  const held = await order({ tenders: [card(await issue(600)), card(await issue(100))] })
  const completed = await order({ tenders: [card(await issue(5_000))] })
  const problem = (count: number) =>
    `The shop cannot start:\n  the tender provider gift_card is gone, and ${count} open orders hold its tenders: enable it again, and remove it when they are completed or canceled`
  await expect(start()).rejects.toThrow(problem(2))
  await manage(held.json.id, 'cancel', { reason: 'broken' })
  await expect(start()).rejects.toThrow(problem(1))
  await manage(completed.json.id, 'shipments', {})
  const { status, text } = await manage(completed.json.id, 'transition', { action: 'complete' })
  expect(status, text).toBe(200)
  await start()
})
