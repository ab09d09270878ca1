import { expect, test } from 'vitest'
import { CHECKOUT_MODULES } from '../../../../test/support/checkouts.ts'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { createTimeZoneDays } from '../../../kernel/days.ts'
import { customer } from '../../../testing.ts'
import { adminModule } from '../index.ts'

/** A shop with paid orders of two mugs each: 12 days ago, 10 days ago and today. */
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
  const days = createTimeZoneDays('UTC')
  const day = (daysAgo: number) => days.at(Date.now() - daysAgo * 86_400_000)
  const statistics = async (from: number) => {
    const { json, text, status } = await shop.admin.get(`/api/admin/dashboard?from=${day(from)}&to=${day(0)}`)
    expect(status, text).toBe(200)
    const { latency: _latency, low_stock: _low, ...rest } = json
    return rest
  }
  const store = () => doOnceMore(shop, 'admin.keep_days')
  const stored = () =>
    shop.sql(
      'select day::text, extract(epoch from computed_at)::float8 as at from admin.daily_statistics order by day'
    )
  const setBeginning = (daysAgo: number) =>
    shop.sql('update admin.beginning set at = $1', [new Date(Date.now() - daysAgo * 86_400_000)])
  return { ...shop, ids, day, statistics, store, stored, setBeginning }
}

test('the stored daily statistics equal those computed from orders', async () => {
  const { statistics, store, stored, setBeginning, record, day } = await useOldShop()
  await store()
  expect(await stored()).toEqual([])
  const computed = await statistics(14)
  expect(computed.orders).toMatchObject({ made: 3, units: 6, top_products: [{ units: 6 }] })
  expect(computed.days.map((each: { orders: { units: number } }) => each.orders.units)).toEqual(
    [14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map(ago => ([12, 10, 0].includes(ago) ? 2 : 0))
  )

  await setBeginning(20)
  await store()
  const days = (await stored()).map(row => row.day)
  expect(days).toEqual(Array.from({ length: days.length }, (_, index) => day(20 - index)))
  expect(days.length).toBeGreaterThanOrEqual(19)
  const { result: merged, statements } = await record(() => statistics(15))
  expect({ ...merged, from: computed.from, days: merged.days.slice(1) }).toEqual(computed)
  expect(statements.filter(name => name === 'orders.sum_of_days')).toHaveLength(1)
})

test('the stored statistics of an old day are computed again, less often the older the day is', async () => {
  const { ids, statistics, store, stored, setBeginning, sql } = await useOldShop()
  await setBeginning(20)
  await store()
  await sql(`update orders.orders set state = 'canceled' where id = $1`, [ids[0]])
  await store()
  expect((await statistics(13)).orders).toMatchObject({ canceled: 0, units: 6 })

  await sql(`update admin.daily_statistics set computed_at = computed_at - interval '1 day'`)
  const before = await stored()
  await store()
  expect((await statistics(14)).orders).toMatchObject({ canceled: 1, units: 4 })
  const again = (await stored()).filter((row, index) => Number(row.at) > Number(before[index]?.at))
  expect(again).toHaveLength(before.length)
})

test('stored daily statistics of another time zone or of other modules are not used', async () => {
  const { statistics, store, stored, setBeginning, sql } = await useOldShop()
  await setBeginning(20)
  await store()
  await sql(`update admin.daily_statistics set scope = 'Europe/Berlin', statistics = '{}'`)
  expect((await statistics(13)).orders).toMatchObject({ made: 3, units: 6 })
  await store()
  expect(await sql(`select distinct scope from admin.daily_statistics`)).toEqual([
    { scope: 'UTC auth orders payments' }
  ])
  expect((await stored()).length).toBeGreaterThanOrEqual(19)
})
