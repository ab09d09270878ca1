import { expect, test } from 'vitest'
import { giftCardsModule } from '../../../../examples/gift-cards/gift-cards/index.ts'
import { giftCard, giftCardsIn } from '../../../../test/support/gift-cards.ts'
import { useMailingShop } from '../../../../test/support/mailing-shop.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'
import { type OrdersApi, ordersModule } from '../index.ts'

const EMAIL = 'ada@example.com'
const ON_ACCOUNT = { CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '[on_account, bank_transfer]' }

/** A shop with cards that sends mails. A mug costs 10.00, and its delivery 4.90. */
async function useMailedCards() {
  const shop = await useMailingShop(ON_ACCOUNT, [giftCardsModule])
  return {
    ...shop,
    issue: giftCardsIn(shop.sql).issue,
    order: async (caller: { token: string } | null, tenders: object[], method = TRANSFER.method) => {
      const body = { ...sent(shop.mug), email: EMAIL, payment: { ...TRANSFER, method }, tenders }
      const path = caller === null ? '/api/orders/guest' : '/api/orders'
      const { status, json, text } = await (caller === null ? shop.anonymous : shop.as(caller)).post(
        path,
        body
      )
      expect(status, text).toBe(201)
      return json
    }
  }
}
const endOf = (code: string) => `•••• ${code.slice(-4)}`

test('mails about an order show each tender with its label, and what an unpaid order still costs', async () => {
  const { order, issue, waitForMails, pay, messages } = await useMailedCards()
  const [one, other] = [await issue(300), await issue(400)]
  const tenders = [one, other].map(code => giftCard(code))
  const { id } = await order(null, tenders, 'on_account')
  const [placed] = await waitForMails(1)
  const covered = `Total: $14.90\n${endOf(one)}: -$3.00\n${endOf(other)}: -$4.00`
  expect(placed?.text).toContain(`${covered}\nAmount due: $7.90\n`)
  for (const part of [endOf(one), endOf(other), '-$4.00', 'Amount due', '$7.90'])
    expect(placed?.html).toContain(part)
  await pay(id)
  const [, paid] = await waitForMails(2)
  expect(paid?.text).toContain(covered)
  expect(paid?.text).not.toContain('Amount due')
  await order(null, [])
  const stored = JSON.stringify(await messages())
  for (const code of [one, other]) expect(stored).not.toContain(code)
})

test('a mail that was stored before orders had tenders is sent', async () => {
  const { order, waitForMails, sql } = await useMailedCards()
  await sql(`
    create function earlier() returns trigger language plpgsql as $$
      begin new.data := new.data::jsonb #- '{order,tenders}' #- '{order,due}'; return new; end $$`)
  await sql(
    `create trigger earlier before insert on notifications.messages for each row execute function earlier()`
  )
  await order(null, [], 'on_account')
  const [mail] = await waitForMails(1)
  expect(mail?.text).toContain('Total: $14.90')
})

test('the order export has what tenders covered of each order', async () => {
  const { order, issue, admin } = await useMailedCards()
  const code = await issue(300)
  await order(null, [])
  await order(null, [giftCard(code)])
  const { text } = await admin.get('/api/admin/orders/export')
  const [head, covered, whole] = text.trimEnd().split('\r\n')
  expect(head).toMatch(/,metadata,tendered,tenders$/)
  const [, tenders = ''] = /,300,"(.*)"$/.exec(covered ?? '') ?? []
  expect(JSON.parse(tenders.replaceAll('""', '"'))).toEqual([
    { id: expect.any(String), type: 'gift_card', label: endOf(code), amount: 300, refunded: 0 }
  ])
  expect(whole).toMatch(/,0,$/)
  expect(text).not.toContain(code)
})

test('an export of personal data has tenders without their codes, and an erasure empties their labels', async () => {
  const shop = await useMailedCards()
  const { order, issue, admin, sql, pay } = shop
  const [code, guests] = [await issue(300), await issue(300)]
  const caller = customer()
  const own = await order(caller, [giftCard(code)])
  const ofGuest = await order(null, [giftCard(guests)])
  for (const { id } of [own, ofGuest]) {
    await pay(id)
    await admin.post(`/api/admin/orders/${id}/cancel`, {})
  }
  const tender = (of: string) => ({ type: 'gift_card', label: endOf(of), amount: 300, refunded: 300 })
  const { parts: exported } = await shop.auth.exportUser(caller.id)
  expect(exported).toMatchObject({ orders: { orders: [{ number: own.number, tenders: [tender(code)] }] } })
  const path = '/api/admin/orders/guest-data'
  const exportedOfGuest = await admin.post(`${path}/export`, { order_id: ofGuest.id })
  expect(exportedOfGuest.json.parts.orders.orders).toMatchObject([{ tenders: [tender(guests)] }])
  for (const text of [JSON.stringify(exported), exportedOfGuest.text])
    for (const each of [code, guests]) expect(text).not.toContain(each)

  const labels = () => sql('select label, amount::int, refunded::int from orders.tenders order by id')
  const kept = { amount: 300, refunded: 300 }
  expect((await admin.post(`${path}/erase`, { order_id: ofGuest.id })).status).toBe(200)
  expect((await labels()).map(({ label }) => label).sort()).toEqual(['', endOf(code)])
  const { erase } = shop.apiOf(ordersModule) as OrdersApi
  await shop.db.transaction(tx => erase(tx, caller.id))
  expect(await labels()).toEqual([
    { label: '', ...kept },
    { label: '', ...kept }
  ])
})
