import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { newId } from '../../../kernel/ids.ts'
import { newWrite } from '../../../platform/idempotency/write.ts'

async function useLimited() {
  const shop = await usePricing()
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const promotion = { name: 'P', class: 'order', effect, uses_max: 50 }
  const { json } = await shop.admin.post('/api/admin/promotions', promotion)
  const redemptions = [{ promotionId: json.id as string, limited: 'promotion' }] as const
  const usesLeft = async () => (await shop.admin.get(`/api/admin/promotions/${json.id}`)).json.uses_left
  return { ...shop, redemptions, usesLeft }
}

test('transactions that redeem the same limited promotion hold few connections, and do not delay others', async () => {
  const { db, pricing, redemptions, redeem, databaseUrl, usesLeft } = await useLimited()
  const otherClient = new pg.Client({ connectionString: databaseUrl })
  await otherClient.connect()
  onTestFinished(() => otherClient.end())
  await otherClient.query('begin; update pricing.usage_limits set taken = taken')
  const waiting = Array.from({ length: 40 }, () => redeem(newId(), redemptions, newId()))
  for (let other = 0; other < 20; other += 1)
    await db.transaction(tx => pricing.release(tx, newId()), { deadlineAt: performance.now() + 20_000 })
  const { rows } = await otherClient.query(
    `select count(*)::int as waiting from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  )
  expect(rows[0].waiting).toBeLessThanOrEqual(4)
  await otherClient.query('commit')
  await Promise.all(waiting)
  expect(await usesLeft()).toBe(10)
})

test('promotions are redeemed only in a transaction serialized by their limits; any other does not compile', async () => {
  const { db, pricing, redemptions, usesLeft } = await useLimited()
  const [owner, customer] = [newId(), newId()]
  await newWrite().once(pricing.serializedBy(db, redemptions), tx => pricing.redeem(tx, owner, customer))
  expect(await usesLeft()).toBe(49)
  // @ts-expect-error it would keep others from their connections
  const elsewhere = () => newWrite().once(db, tx => pricing.redeem(tx, newId(), customer))
  await expect(elsewhere()).rejects.toThrow()
  expect(await usesLeft()).toBe(49)
})

test('redeeming any number of promotions takes two statements and one with the commit; releasing takes one more', async () => {
  const { db, pricing, redemptions, redeem, record, admin } = await useLimited()
  const other = {
    name: 'Other',
    class: 'line',
    effect: { type: 'percentage', percentage_ppm: 1 },
    uses_max: 9
  }
  const { json } = await admin.post('/api/admin/promotions', other)
  const owner = newId()
  const statementsOf = async (work: () => Promise<unknown>) =>
    (await record(work)).statements.filter(name => /^pricing\.(?!list_)/.test(name))
  const both = [...redemptions, { promotionId: json.id as string, limited: 'promotion' as const }]
  expect(await statementsOf(() => redeem(owner, both, newId()))).toEqual([
    'pricing.insert_redemptions',
    'pricing.add_customer_uses',
    'pricing.add_uses'
  ])
  expect(await statementsOf(() => db.transaction(tx => pricing.release(tx, owner)))).toEqual([
    'pricing.delete_redemptions',
    'pricing.give_customer_uses_back',
    'pricing.give_first_order_back',
    'pricing.add_uses'
  ])
})
