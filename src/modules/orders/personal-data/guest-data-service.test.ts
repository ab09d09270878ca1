import { expect, test } from 'vitest'
import { doOnceMore } from '../../../../test/support/jobs.ts'
import { useMailingShop } from '../../../../test/support/mailing-shop.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { newId } from '../../../kernel/ids.ts'
import { customer } from '../../../testing.ts'

const ADA = 'ada@example.com'
const PATH = '/api/admin/orders/guest-data'
const SCHEMAS = ['orders', 'payments', 'shipping', 'pricing', 'notifications']

async function useGuests(settings: Readonly<Record<string, string>> = {}) {
  const shop = await useMailingShop(settings)
  const guestOrder = async (email = ADA) => {
    const body = { ...sent(shop.mug), email, note: `For ${email}`, payment: TRANSFER }
    const { status, json, text } = await shop.anonymous.post('/api/orders/guest', body)
    expect(status, text).toBe(201)
    return json as { id: string; number: string; order_token: string }
  }
  const cancel = (id: string) => shop.admin.post(`/api/admin/orders/${id}/cancel`, {})
  return {
    ...shop,
    guestOrder,
    cancel,
    closed: async (email = ADA) => {
      const order = await guestOrder(email)
      expect((await cancel(order.id)).json.status).toBe('canceled')
      return order
    },
    read: async (id: string) => (await shop.admin.get(`/api/admin/orders/${id}`)).json,
    /** Everything in the tables of these modules, as text. */
    kept: async () => {
      const tables = await shop.sql(
        `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = any ($1)`,
        [SCHEMAS]
      )
      const rows = await Promise.all(
        tables.map(({ name }) => shop.sql(`select to_jsonb(t) as row from ${name} t`))
      )
      return JSON.stringify(rows)
    }
  }
}

test("an administrator exports and erases what the shop keeps of a guest, by the guest's e-mail address", async () => {
  const shop = await useGuests()
  const orders = [await shop.closed('Ada@Example.com'), await shop.closed()]
  const other = await shop.closed('bob@example.com')
  await shop.waitForMails(3)
  await expect.poll(shop.statuses).toEqual(['sent', 'sent', 'sent'])
  const before = await shop.read(orders[0]?.id ?? '')

  const exported = await shop.admin.post(`${PATH}/export`, { email: 'ADA@example.com' })
  expect(exported.status, exported.text).toBe(200)
  expect(exported.json.orders).toEqual(orders.map(({ id, number }) => ({ id, number })))
  expect(exported.json.parts).toMatchObject({
    orders: { orders: [{ shipping_address: { name: 'Ada Lovelace' } }, { number: orders[1]?.number }] },
    payments: { payments: [{ order_id: orders[0]?.id }, { order_id: orders[1]?.id }] },
    notifications: [{ template: 'order_canceled' }, { template: 'order_canceled' }]
  })
  expect(exported.text).not.toContain('bob')

  const erased = await shop.admin.post(`${PATH}/erase`, { email: ADA })
  expect([erased.status, erased.json.orders]).toEqual([200, exported.json.orders])
  expect((await shop.kept()).toLowerCase()).not.toContain('ada@example')
  expect(await shop.sql(`select number from orders.orders where shipping_address ? 'name'`)).toEqual([
    { number: other.number }
  ])
  const after = await shop.read(orders[0]?.id ?? '')
  expect(after).toMatchObject({
    items: before.items,
    components: before.components,
    total: before.total,
    number: before.number,
    tax_summary: before.tax_summary,
    shipping_address: { country: 'SE' },
    email: null,
    note: null
  })
  expect(after.erased_at).toEqual(expect.any(String))
  const token = { 'x-order-token': orders[0]?.order_token ?? '' }
  expect((await shop.anonymous.get(`/api/orders/guest/${orders[0]?.id}`, undefined, token)).status).toBe(404)

  for (const what of ['export', 'erase'])
    expect((await shop.admin.post(`${PATH}/${what}`, { email: ADA })).json.orders).toEqual([])
  expect((await shop.read(other.id)).email).toBe('bob@example.com')
  expect((await shop.messages()).map(({ recipient }) => recipient)).toEqual(['bob@example.com'])
})

test('an order that is still open keeps all data of its guest', async () => {
  const shop = await useGuests()
  const [closed, open] = [await shop.closed(), await shop.guestOrder()]
  const refused = await shop.admin.post(`${PATH}/erase`, { email: ADA })
  expect([refused.status, refused.json.code, refused.json.numbers]).toEqual([
    409,
    'ORDER_STILL_OPEN',
    [open.number]
  ])
  expect((await shop.read(closed.id)).email).toBe(ADA)
  expect((await shop.admin.post(`${PATH}/erase`, { order_id: closed.id })).status).toBe(200)
  expect((await shop.read(closed.id)).email).toBeNull()
  expect((await shop.read(open.id)).email).toBe(ADA)
})

test("administrators select a guest's data by one order or one address, and never by the order of an account", async () => {
  const shop = await useGuests()
  const { json: owned } = await shop.as(customer()).post('/api/orders', { ...sent(shop.mug), email: ADA })
  const answers = async (body: object, by = shop.admin) => {
    const both = ['erase', 'export'].map(what => by.post(`${PATH}/${what}`, body))
    return (await Promise.all(both)).map(({ status, json }) => json.code ?? status)
  }
  expect(await answers({})).toEqual(Array(2).fill('ORDER_GUEST_DATA_UNCLEAR'))
  expect(await answers({ order_id: owned.id, email: ADA })).toEqual(Array(2).fill('ORDER_GUEST_DATA_UNCLEAR'))
  expect(await answers({ order_id: newId() })).toEqual(Array(2).fill('ORDER_NOT_FOUND'))
  expect(await answers({ order_id: owned.id })).toEqual(Array(2).fill('ORDER_HAS_ACCOUNT'))
  expect(await answers({ email: ADA })).toEqual([200, 200])
  expect(await answers({ email: ADA }, shop.as(customer()))).toEqual(Array(2).fill('ADMIN_REQUIRED'))
  expect((await shop.read(owned.id)).email).toBe(ADA)
})

test('personal data of closed guest orders is erased after the configured number of days, also when metadata was written since', async () => {
  const shop = await useGuests({ CARTWRIGHT__ORDERS__GUEST_DATA_DAYS: '30' })
  const [old, recent, open] = [await shop.closed(), await shop.closed(), await shop.guestOrder()]
  const { json: owned } = await shop.as(customer()).post('/api/orders', { ...sent(shop.mug), email: ADA })
  await shop.cancel(owned.id)
  const age = (id: string, days: number) =>
    shop.sql('update orders.orders set progressed_at = now() - make_interval(days => $2) where id = $1', [
      id,
      days
    ])
  await age(recent.id, 29)
  for (const { id } of [old, open, owned]) await age(id, 31)
  await shop.admin.patch(`/api/admin/orders/${old.id}`, { metadata: { erp_number: '4711' } })
  await doOnceMore(shop, 'orders.erase_old_guest_data')
  const emails = await Promise.all(
    [old, recent, open, owned].map(async ({ id }) => (await shop.read(id)).email)
  )
  expect(emails).toEqual([null, ADA, ADA, ADA])
})

test('by default no personal data is erased because of its age', async () => {
  const shop = await useGuests()
  const { id } = await shop.closed()
  await shop.sql(`update orders.orders set progressed_at = '2001-01-01'`)
  await doOnceMore(shop, 'orders.erase_old_guest_data')
  expect((await shop.read(id)).email).toBe(ADA)
})
