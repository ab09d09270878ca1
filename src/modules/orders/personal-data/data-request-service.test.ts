import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { useMailingShop } from '../../../../test/support/mailing-shop.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { newId } from '../../../kernel/ids.ts'

const ADA = 'ada@example.com'
const PATH = '/api/orders/guest/data-requests'

async function useRequests() {
  const shop = await useMailingShop({
    CARTWRIGHT__NOTIFICATIONS__OFF: JSON.stringify(['order_canceled', 'order_placed'])
  })
  const ordered = async () => {
    const body = { ...sent(shop.mug), email: 'Ada@Example.com', payment: TRANSFER }
    return (await shop.anonymous.post('/api/orders/guest', body)).json as { id: string; number: string }
  }
  /** Waits until the jobs of requests are done. */
  const settled = async () => {
    const open = `select 1 from cartwright.jobs where handler in ('orders.open_data_request', 'notifications:orders.data_requested')`
    await expect.poll(() => shop.sql(open)).toEqual([])
  }
  return {
    ...shop,
    ordered,
    settled,
    cancel: (id: string) => shop.admin.post(`/api/admin/orders/${id}/cancel`, {}),
    ask: (email: string, action: string) => shop.anonymous.post(PATH, { email, action }),
    confirm: (token: string) => shop.anonymous.post(`${PATH}/confirm`, { token }),
    /** The token in the latest mail, once there are that many. */
    tokenIn: async (count: number) => {
      const { text = '' } = (await shop.waitForMails(count)).at(-1) ?? {}
      return decodeURIComponent(/guest-data#token=(\S+)/.exec(text)?.[1] ?? '')
    }
  }
}

test('a guest sees and erases their data by links that are mailed to the address they ordered with', async () => {
  const shop = await useRequests()
  const order = await shop.ordered()
  const asked = await shop.ask(' ada@example.com', 'export')
  expect([asked.status, asked.json]).toEqual([202, { expires_in: 86_400 }])
  const toExport = await shop.tokenIn(1)
  expect(shop.mails.taken[0]?.recipient).toMatch(/^ada@example\.com$/i)
  const exported = await shop.confirm(toExport)
  expect(exported.status, exported.text).toBe(200)
  expect(exported.json).toMatchObject({
    action: 'export',
    orders: [{ id: order.id, number: order.number }],
    parts: { orders: { orders: [{ shipping_address: { name: 'Ada Lovelace' } }] } }
  })

  await shop.ask(ADA, 'erase')
  const toErase = await shop.tokenIn(2)
  const early = await shop.confirm(toErase)
  expect([early.status, early.json.code, early.json.numbers]).toEqual([
    409,
    'ORDER_STILL_OPEN',
    [order.number]
  ])
  await shop.cancel(order.id)
  expect((await shop.confirm(toErase)).json).toEqual({
    action: 'erase',
    parts: null,
    orders: [{ id: order.id, number: order.number }]
  })
  const read = (await shop.admin.get(`/api/admin/orders/${order.id}`)).json
  expect([read.email, read.shipping_address]).toEqual([null, { country: 'SE' }])
  expect((await shop.confirm(toErase)).json.code).toBe('ORDER_DATA_REQUEST_INVALID')
})

test('data-erasure links that are confirmed simultaneously erase an order once, and each link works once', async () => {
  const shop = await useRequests()
  const order = await shop.ordered()
  await shop.cancel(order.id)
  const links: string[] = []
  for (const mails of [1, 2]) {
    await shop.ask(ADA, 'erase')
    links.push(await shop.tokenIn(mails))
  }
  const client = new pg.Client({ connectionString: shop.databaseUrl })
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin')
  await client.query('select from orders.orders for update')
  const confirmed = Promise.all([...links, ...links].map(shop.confirm))
  const waiting = `select count(*)::int as waiting from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock'`
  await expect.poll(() => shop.sql(waiting)).toEqual([{ waiting: 4 }])
  await client.query('rollback')
  const outcomes = (await confirmed).map(({ json }) => json.code ?? json.orders.length)
  expect(outcomes.sort()).toEqual([0, 1, 'ORDER_DATA_REQUEST_INVALID', 'ORDER_DATA_REQUEST_INVALID'])
  const { history } = (await shop.admin.get(`/api/admin/orders/${order.id}`)).json
  expect(history.filter(({ action }: { action: string }) => action === 'erase')).toHaveLength(1)
})

test('a data request for an unknown address gets the same response by the same statements, and no mail', async () => {
  const shop = await useRequests()
  await shop.ordered()
  const answers = []
  for (const email of ['unknown@example.com', ADA]) {
    const { result, statements } = await shop.record(() => shop.ask(email, 'erase'))
    answers.push([result.status, result.json, statements.filter(name => !name.startsWith('inventory.'))])
    await shop.settled()
  }
  expect(answers[0]).toEqual(answers[1])
  expect(answers[0]?.[0]).toBe(202)
  expect((await shop.waitForMails(1))[0]?.recipient).toMatch(/^ada@example\.com$/i)
})

test('an e-mail address gets three data-request links a day, and expired, changed or foreign links are rejected', async () => {
  const shop = await useRequests()
  await shop.ordered()
  for (let time = 0; time < 5; time += 1) {
    expect((await shop.ask(ADA, 'export')).status).toBe(202)
    await shop.settled()
  }
  const token = await shop.tokenIn(3)
  expect(await shop.sql('select count(*)::int from orders.data_requests')).toEqual([{ count: 3 }])
  for (const wrong of [`${token}x`, token.replace('gdt_', 'gdt_0'), 'gdt_', 'x'])
    expect((await shop.confirm(wrong)).json.code, wrong).toBe('ORDER_DATA_REQUEST_INVALID')
  expect((await shop.confirm(token)).status).toBe(200)
  await shop.sql(`update orders.data_requests set created_at = created_at - interval '25 hours'`)
  expect((await shop.confirm(token)).json.code).toBe('ORDER_DATA_REQUEST_INVALID')
})

test('a data-request job that runs twice sends one link', async () => {
  const shop = await useRequests()
  await shop.ordered()
  await shop.ask(ADA, 'export')
  await shop.waitForMails(1)
  const [request] = await shop.sql('select id from orders.data_requests')
  await shop.sql(
    `insert into cartwright.jobs (handler, subject, event_id, payload)
     values ('orders.open_data_request', $1, $1, '{"email": "${ADA}", "action": "export"}')`,
    [request?.id]
  )
  await shop.settled()
  await doOnceMore(shop, 'orders.expire_orders')
  expect(await shop.messages()).toHaveLength(1)
})

test('the data requests of an e-mail address are erased with the account that has verified it', async () => {
  const shop = await useRequests()
  await shop.ordered()
  await shop.ask(ADA, 'export')
  await shop.settled()
  const kept = () => shop.sql('select email from orders.data_requests')
  const leave = async (emailVerified: boolean) => {
    const id = newId()
    shop.auth.addContact({ id, email: ADA, emailVerified })
    await shop.db.transaction(tx => shop.auth.eraseUser(tx, id))
  }
  await leave(false)
  expect(await kept()).toHaveLength(1)
  await leave(true)
  expect(await kept()).toEqual([])
})
