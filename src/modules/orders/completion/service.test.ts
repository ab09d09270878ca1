import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'

async function useSent() {
  const shop = await usePaidOrders()
  return {
    ...shop,
    /** An order that is paid and sent. */
    sent: async (): Promise<string> => {
      const { id } = await shop.order()
      await shop.pay(id)
      await shop.does(id, 'shipments')
      return id
    },
    /** For so long nothing has happened to any. */
    pass: (interval: string) =>
      shop.sql('update orders.orders set updated_at = updated_at - $1::interval', [interval]),
    /** The job has been done once more, from its beginning. */
    sweep: (meanwhile?: () => Promise<void>) => doOnceMore(shop, 'orders.complete_orders', meanwhile)
  }
}

test('an order that is sent and paid is completed when nothing has happened to it for 30 days', async () => {
  const shop = await useSent()
  const [done, touched] = [await shop.sent(), await shop.sent()]
  await shop.pass('29 days')
  await shop.sweep()
  expect((await shop.read(done)).status).toBe('shipped')
  await shop.does(touched, 'refunds', { amount: 100, reason: 'it was late' })
  await shop.pass('2 days')
  await shop.sweep()
  const { status, history } = await shop.read(done)
  expect(status).toBe('completed')
  expect(history.at(-1)).toMatchObject({ action: 'complete', from: 'placed', to: 'completed', actor: null })
  expect((await shop.read(touched)).status).toBe('shipped')
  // Whoever takes it up again has the same time for it.
  await shop.does(done, 'transition', { action: 'reopen' })
  await shop.sweep()
  expect((await shop.read(done)).status).toBe('shipped')
  await shop.pass('31 days')
  await shop.sweep()
  expect((await shop.read(done)).status).toBe('completed')
  expect((await shop.read(touched)).status).toBe('completed')
  // It can come back all the same.
  expect((await shop.does(done, 'returns', { lines: [{ line: 1, quantity: 1 }] })).items[0].returned).toBe(1)
})

test('nothing is completed that is not sent, not paid, held, disputed, or being canceled', async () => {
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

test('an order that something happens to while it is about to be completed is not', async () => {
  const shop = await useSent()
  const id = await shop.sent()
  await shop.pass('31 days')
  const holder = new pg.Client({ connectionString: shop.databaseUrl })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin')
  await holder.query('update orders.orders set updated_at = now() where id = $1', [id])
  // It waits for the order, or has waited for as long as it does.
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
