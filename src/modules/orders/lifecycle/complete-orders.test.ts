import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'

async function useSent() {
  const shop = await usePaidOrders()
  return {
    ...shop,
    /** A paid and shipped order. */
    sent: async (): Promise<string> => {
      const { id } = await shop.order()
      await shop.pay(id)
      await shop.does(id, 'shipments')
      return id
    },
    /** Shifts the last change of all orders into the past. */
    pass: (interval: string) =>
      shop.sql('update orders.orders set progressed_at = progressed_at - $1::interval', [interval]),
    /** Waits for a full run of the job. */
    sweep: (meanwhile?: () => Promise<void>) => doOnceMore(shop, 'orders.complete_orders', meanwhile)
  }
}

test('a shipped and paid order is completed 30 days after its last change other than of metadata', async () => {
  const shop = await useSent()
  const [done, touched] = [await shop.sent(), await shop.sent()]
  await shop.pass('29 days')
  await shop.sweep()
  expect((await shop.read(done)).status).toBe('shipped')
  const { updated_at } = await shop.read(done)
  await shop.admin.patch(`/api/admin/orders/${done}`, { metadata: { erp_number: '4711' } })
  expect((await shop.read(done)).updated_at).not.toBe(updated_at)
  await shop.does(touched, 'refunds', { amount: 100, reason: 'it was late' })
  await shop.pass('2 days')
  await shop.sweep()
  const { status, history } = await shop.read(done)
  expect(status).toBe('completed')
  expect(history.at(-1)).toMatchObject({ action: 'complete', from: 'placed', to: 'completed', actor: null })
  expect((await shop.read(touched)).status).toBe('shipped')
  // Reopening restarts the time.
  await shop.does(done, 'transition', { action: 'reopen' })
  await shop.sweep()
  expect((await shop.read(done)).status).toBe('shipped')
  await shop.pass('31 days')
  await shop.sweep()
  expect((await shop.read(done)).status).toBe('completed')
  expect((await shop.read(touched)).status).toBe('completed')
  // It can still be returned.
  expect((await shop.does(done, 'returns', { lines: [{ line: 1, quantity: 1 }] })).items[0].returned).toBe(1)
})

test('an order that is not shipped, not paid, held, disputed or being canceled is not completed', async () => {
  const shop = await useSent()
  const [waiting, part, held] = [(await shop.order()).id, (await shop.order()).id, await shop.sent()]
  await shop.pay(part)
  await shop.does(part, 'shipments', { lines: [{ line: 1, quantity: 1 }] })
  await shop.does(part, 'returns', { lines: [{ line: 1, quantity: 1 }] })
  await shop.does(held, 'transition', { action: 'hold' })
  const disputed = await shop.sent()
  await shop.sql('update orders.orders set is_disputed = true where id = $1', [disputed])
  await shop.pass('400 days')
  await shop.sweep()
  const states = await shop.sql('select id, state from orders.orders order by id')
  expect(states).toEqual(
    [waiting, part, held, disputed].sort().map(id => ({ id, state: id === waiting ? 'pending' : 'placed' }))
  )
})

test('an order that changes while the completion job waits for its lock is not completed', async () => {
  const shop = await useSent()
  const id = await shop.sent()
  await shop.pass('31 days')
  const holder = new pg.Client({ connectionString: shop.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  await holder.query('update orders.orders set progressed_at = now() where id = $1', [id])
  // The job waits for the order, or has waited for as long as it does.
  const hasWaited = `
    select pid::text from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'
    union all select handler from cartwright.jobs
    where handler = 'orders.complete_orders' and lease is null and due_at > now() + interval '1 minute'`
  await shop.sweep(async () => {
    await expect.poll(async () => (await shop.sql(hasWaited)).length).toBeGreaterThan(0)
    await holder.query('commit')
  })
  expect((await shop.read(id)).status).toBe('shipped')
  await shop.pass('31 days')
  await shop.sweep()
  expect((await shop.read(id)).status).toBe('completed')
})
