import { expect, test } from 'vitest'
import { giftCardsModule } from '../../../../examples/gift-cards/gift-cards/index.ts'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { giftCard as card, GIFT_CARD_SETTINGS, giftCardsIn } from '../../../../test/support/gift-cards.ts'
import { sent, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

/** A shop with gift cards. A mug costs 10.00, and its delivery 4.90. */
async function useCards() {
  const shop = await useOrders({
    modules: [...CHECKOUT_MODULES, giftCardsModule],
    settings: GIFT_CARD_SETTINGS
  })
  return { ...shop, ...giftCardsIn(shop.sql), buyer: shop.as(customer()) }
}

test('a preview of tenders returns what each covers of a checkout and what is due, and changes nothing', async () => {
  const { issue, balanceOf, mug, buyer, anonymous, sql } = await useCards()
  const [one, large] = [await issue(600), await issue(5_000)]
  const { json: checkout } = await buyer.post('/api/checkouts', sent(mug))
  const preview = (...tenders: object[]) => buyer.post(`/api/checkouts/${checkout.id}/tenders`, { tenders })
  const label = (code: string) => `•••• ${code.slice(-4)}`
  const { status, json, text } = await preview(card(one), card(large, 500))
  expect(status, text).toBe(200)
  expect(json).toEqual({
    currency: 'USD',
    total: 1_490,
    tenders: [
      { type: 'gift_card', label: label(one), amount: 600 },
      { type: 'gift_card', label: label(large), amount: 500 }
    ],
    due: 390
  })
  expect((await preview(card(large), card('not needed'))).json).toMatchObject({
    tenders: [{ amount: 1_490 }],
    due: 0
  })
  expect((await preview()).json).toMatchObject({ tenders: [], due: 1_490 })
  expect([await balanceOf(one), await balanceOf(large)]).toEqual([600, 5_000])
  expect(await sql('select * from gift_cards.reservations')).toEqual([])

  const { json: own } = await anonymous.post('/api/checkouts/guest', {
    ...sent(mug),
    email: 'ada@example.com'
  })
  const path = `/api/checkouts/guest/${own.id}/tenders`
  const tenders = [card(one)]
  expect((await anonymous.post(path, { tenders })).json.code).toBe('CHECKOUT_NOT_FOUND')
  const seen = await anonymous.post(path, { tenders }, { 'x-checkout-token': own.checkout_token })
  expect(seen.json, seen.text).toMatchObject({ total: 1_490, tenders: [{ amount: 600 }], due: 890 })
})

test('a preview of tenders rejects what the completion of the checkout rejects, with the same error', async () => {
  const { issue, mug, buyer } = await useCards()
  const [code, empty, foreign] = [await issue(600), await issue(0), await issue(1_000, 'EUR')]
  const { json: checkout } = await buyer.post('/api/checkouts', sent(mug))
  const send = async (what: string, tenders: object[]) => {
    const { status, json } = await buyer.post(`/api/checkouts/${checkout.id}/${what}`, { tenders })
    const { code, available, types, label } = json
    return { status, code, available, types, label }
  }
  const wrong = [
    [card(code, 601)],
    [card(code), card(empty)],
    [card(code), card('unknown')],
    [card(foreign)],
    [{ type: 'gold', code }]
  ]
  for (const tenders of wrong) {
    const previewed = await send('tenders', tenders)
    expect(previewed.status).toBeGreaterThanOrEqual(400)
    expect(await send('complete', tenders)).toEqual(previewed)
  }
  // The second use of a code covers what the first one left.
  const twice = [card(code), card(code)]
  expect([(await send('tenders', twice)).status, (await send('complete', twice)).status]).toEqual([409, 409])
  const completed = await send('complete', [card(code)])
  expect(completed.status).toBe(201)
  expect(await send('tenders', [card(code)])).toMatchObject({ status: 409, code: 'CHECKOUT_COMPLETED' })
})
