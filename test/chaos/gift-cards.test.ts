import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { giftCardsModule } from '../../examples/gift-cards/gift-cards/index.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import { brokenGiftCards, giftCard, giftCardsIn } from '../support/gift-cards.ts'
import { sent, TRANSFER, useOrders } from '../support/orders.ts'

/** Statements that each break one rule, with a part of its name. */
const VIOLATIONS: readonly [rule: string, text: string][] = [
  ['the balance of a gift card', 'update gift_cards.cards set balance = balance + 1'],
  ['the balance of a gift card', `delete from gift_cards.entries where kind = 'refunded'`],
  ['what a gift card gave', 'update orders.tenders set amount = amount + 1'],
  ['what a gift card gave', `update gift_cards.entries set amount = amount + 1 where kind = 'redeemed'`],
  ['what a gift card gave', 'delete from orders.tenders'],
  ['what a gift card got back', 'update orders.tenders set refunded = refunded - 1'],
  ['what a gift card got back', `update gift_cards.entries set amount = amount + 1 where kind = 'refunded'`]
]

test('the rules of gift cards find nothing in an intact shop, and each wrong row', async () => {
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, giftCardsModule] })
  const code = await giftCardsIn(shop.sql).issue(600)
  const body = { ...sent(shop.mug), email: 'ada@example.com', payment: TRANSFER, tenders: [giftCard(code)] }
  const { json } = await shop.anonymous.post('/api/orders/guest', body)
  await shop.pay(json.id)
  const refund = { amount: 1_000, reason: 'late' }
  expect((await shop.admin.post(`/api/admin/orders/${json.id}/refunds`, refund)).status).toBe(200)
  expect(await giftCardsIn(shop.sql).balanceOf(code)).toBe(110)
  expect(await brokenGiftCards(shop.sql)).toEqual([])
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  const sql = async (text: string) => (await client.query(text)).rows
  for (const [rule, text] of VIOLATIONS) {
    await sql(`begin; ${text}`)
    expect((await brokenGiftCards(sql)).join('\n'), text).toContain(rule)
    await sql('rollback')
  }
})
