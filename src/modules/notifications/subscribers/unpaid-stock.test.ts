import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { useMailingShop } from '../../../../test/support/mailing-shop.ts'
import { TRANSFER } from '../../../../test/support/orders.ts'

const JOB = 'orders.watch_unpaid_stock'

test('staff get one mail a day when unpaid orders reserve half of a variant, with the number of buyers', async () => {
  const shop = await useMailingShop({
    CARTWRIGHT__NOTIFICATIONS__STAFF: '["ops@shop.example"]',
    CARTWRIGHT__NOTIFICATIONS__OFF: '["order_placed", "low_stock"]'
  })
  await shop.stock(shop.mug, 20)
  const order = async (quantity: number) => {
    const { status, text } = await shop.anonymous.post('/api/orders/guest', {
      items: [itemOf(shop.mug, quantity)],
      email: 'ada@example.com',
      shipping_address: STOCKHOLM,
      payment: TRANSFER
    })
    expect(status, text).toBe(201)
  }
  await order(9)
  await doOnceMore(shop, JOB)
  expect(await shop.sql('select at from orders.unpaid_alerts')).toEqual([])

  await order(1)
  await doOnceMore(shop, JOB)
  const [mail] = await shop.waitForMails(1)
  expect(mail?.subject).toBe('Unpaid orders reserve 10 units')
  expect(mail?.text).toContain('2 unpaid orders of 1 buyers reserve 10 units. They came from 1 networks')
  expect(mail?.text).toMatch(/: 10 units, 50 %\./)
  await doOnceMore(shop, JOB)
  expect(await shop.sql('select count(*)::int as alerts from orders.unpaid_alerts')).toEqual([{ alerts: 1 }])
  await shop.sql(`update orders.unpaid_alerts set at = at - interval '1 day'`)
  await doOnceMore(shop, JOB)
  await shop.waitForMails(2)
})
