import { expect, test } from 'vitest'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { createDays } from '../../../kernel/days.ts'
import { customer } from '../../../testing.ts'
import { adminModule } from '../index.ts'

/** A shop that began 20 days ago, with a paid order of two mugs 10 and 12 days ago and one of today. */
async function useOldShop() {
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, adminModule] })
  const ids: string[] = []
  for (const daysAgo of [12, 10, 0]) {
    const body = { ...sent(shop.mug, 2), payment: TRANSFER }
    const { json, status, text } = await shop.as(customer()).post('/api/orders', body)
    expect(status, text).toBe(201)
    await shop.pay(json.id)
    const at = new Date(Date.now() - daysAgo * 86_400_000)
    await shop.sql('update orders.orders set created_at = $2 where id = $1', [json.id, at])
    const payments = '(select id from payments.payments where order_id = $1)'
    await shop.sql(`update payments.facts set seen_at = $2 where payment_id in ${payments}`, [json.id, at])
    ids.push(json.id)
  }
  const days = createDays('UTC')
  const day = (daysAgo: number) => days.at(Date.now() - daysAgo * 86_400_000)
  const figures = async (from: number) => {
    const { json, text, status } = await shop.admin.get(`/api/admin/dashboard?from=${day(from)}&to=${day(0)}`)
    expect(status, text).toBe(200)
    const { latency: _latency, low_stock: _low, ...rest } = json
    return rest
  }
  const keep = () => doOnceMore(shop, 'admin.keep_days')
  const kept = () =>
    shop.sql(
      'select day::text, extract(epoch from counted_at)::float8 as at from admin.kept_days order by day'
    )
  const begin = (daysAgo: number) =>
    shop.sql('update admin.beginning set at = $1', [new Date(Date.now() - daysAgo * 86_400_000)])
  return { ...shop, ids, day, figures, keep, kept, begin }
}

test('figures of kept days are those that were added up from the orders', async () => {
  const { figures, keep, kept, begin, record, day } = await useOldShop()
  await keep()
  expect(await kept()).toEqual([])
  const added = await figures(14)
  expect(added.orders).toMatchObject({ made: 3, units: 6, top_products: [{ units: 6 }] })
  expect(added.days.map((each: { orders: { units: number } }) => each.orders.units)).toEqual(
    [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map(ago => ([12, 10, 0].includes(ago) ? 2 : 0))
  )

  await begin(20)
  await keep()
  const days = (await kept()).map(row => row.day)
  expect(days).toEqual(Array.from({ length: days.length }, (_, index) => day(20 - index)))
  expect(days.length).toBeGreaterThanOrEqual(19)
  const { result: joined, statements } = await record(() => figures(15))
  expect({ ...joined, from: added.from, days: joined.days.slice(1) }).toEqual(added)
  expect(statements.filter(name => name === 'orders.sum_of_days')).toHaveLength(1)
})

test('a kept day is counted again after a part of its age', async () => {
  const { ids, figures, keep, kept, begin, sql } = await useOldShop()
  await begin(20)
  await keep()
  await sql(`update orders.orders set state = 'canceled' where id = $1`, [ids[0]])
  await keep()
  expect((await figures(13)).orders).toMatchObject({ canceled: 0, units: 6 })

  await sql(`update admin.kept_days set counted_at = counted_at - interval '1 day'`)
  const before = await kept()
  await keep()
  expect((await figures(14)).orders).toMatchObject({ canceled: 1, units: 4 })
  const again = (await kept()).filter((row, index) => Number(row.at) > Number(before[index]?.at))
  expect(again).toHaveLength(before.length)
})

test('figures of another time zone, or other modules, are not used', async () => {
  const { figures, keep, kept, begin, sql } = await useOldShop()
  await begin(20)
  await keep()
  await sql(`update admin.kept_days set scope = 'Europe/Berlin', figures = '{}'`)
  expect((await figures(13)).orders).toMatchObject({ made: 3, units: 6 })
  await keep()
  expect(await sql(`select distinct scope from admin.kept_days`)).toEqual([
    { scope: 'UTC auth orders payments' }
  ])
  expect((await kept()).length).toBeGreaterThanOrEqual(19)
})
