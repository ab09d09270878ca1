import { expect, test } from 'vitest'
import { CHECKOUT_MODULES, itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'
import { inventoryModule } from '../../inventory/index.ts'

/** A shop whose orders wait until stock is reserved for some, and continue together. */
async function useTogether(settings: Record<string, string> = {}) {
  let [held, wanted] = [0, 1]
  let all = Promise.withResolvers<void>()
  const inventory: typeof inventoryModule = {
    ...inventoryModule,
    setup: async (...given) => {
      const instance = await inventoryModule.setup(...given)
      const reserve: typeof instance.api.reserve = async (...lines) => {
        const contested = await instance.api.reserve(...lines)
        held += 1
        if (held === wanted) all.resolve()
        await all.promise
        return contested
      }
      return { ...instance, api: { ...instance.api, reserve } }
    }
  }
  const modules = CHECKOUT_MODULES.map(each => (each === inventoryModule ? inventory : each))
  const shop = await useOrders({ modules, settings })
  return {
    ...shop,
    /** Number of transactions that inserted the orders. */
    transactions: async () => {
      const [row] = await shop.sql('select count(distinct xmin::text)::int as count from orders.orders')
      return Number(row?.count)
    },
    /** The next `count` orders wait for each other. */
    wait: (count: number) => {
      ;[held, wanted] = [0, count]
      all = Promise.withResolvers<void>()
    }
  }
}
type Shop = Awaited<ReturnType<typeof useTogether>>

const cartOf = async (shop: Shop) => {
  const { buyer } = await shop.withCart({ variant_id: shop.mug, quantity: 2 })
  return { buyer, order: () => buyer.post('/api/orders', { shipping_address: STOCKHOLM }) }
}
const numbers = (count: number) => Array.from({ length: count }, (_, number) => number)

test('simultaneous orders share one transaction, and each stores the same as an order on its own', async () => {
  const shop = await useTogether()
  await shop.stock(shop.mug, 100)
  const carts = await Promise.all(numbers(2).map(() => cartOf(shop)))
  shop.wait(4)
  const guest = { ...sent(shop.mug, 3), email: 'guest@example.com' }
  const { result: answers, statements } = await shop.record(() =>
    Promise.all([
      ...carts.map(({ order }) => order()),
      shop.as(customer()).post('/api/orders', { ...sent(shop.mug), payment: TRANSFER }),
      shop.anonymous.post('/api/orders/guest', guest)
    ])
  )
  for (const { status, text } of answers) expect(status, text).toBe(201)
  expect(await shop.transactions()).toBe(1)
  for (const name of [
    'orders.insert_order',
    'orders.count_pending',
    'inventory.claim_reservations',
    'outbox.insert_event'
  ])
    expect(statements.filter(each => each === name)).toEqual([name])
  const orders = answers.map(({ json }) => json.order ?? json)
  expect(new Set(orders.map(({ id }) => id)).size).toBe(4)
  expect(orders.map(({ items }) => items.map((item: { quantity: number }) => item.quantity))).toEqual([
    [2],
    [2],
    [1],
    [3]
  ])
  const reserved = new Map(
    (await shop.reserved(shop.mug)).map(row => [row.order_id, [row.state, row.quantity]])
  )
  for (const { id, items } of orders) expect(reserved.get(id)).toEqual(['claimed', items[0].quantity])
  for (const [at, { buyer }] of carts.entries()) {
    expect((await buyer.get('/api/cart')).json).toMatchObject({ items: [], count: 0, version: 2 })
    expect((await buyer.get(`/api/orders/${orders[at].id}`)).json).toEqual(orders[at])
  }
  expect(await shop.traces()).toMatchObject([{ orders: 4, lines: 4, accounts: 4 }])
})

test('a rejected order in a group commit does not affect the other orders', async () => {
  const settings = {
    CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '1',
    CARTWRIGHT__ORDERS__PENDING_PER_ADDRESS: '100'
  }
  const shop = await useTogether(settings)
  await shop.stock(shop.mug, 100)
  const [many, changed, ...others] = await Promise.all(numbers(4).map(() => cartOf(shop)))
  if (many === undefined || changed === undefined) throw new Error('unreachable')
  expect((await many.order()).status).toBe(201)
  await many.buyer.post('/api/cart', { variant_id: shop.mug, quantity: 1 })
  const before = await shop.transactions()
  shop.wait(4)
  const [refused, ...placed] = await Promise.all([many, changed, ...others].map(({ order }) => order()))
  expect([refused?.status, refused?.json.code]).toEqual([409, 'ORDER_PENDING_LIMIT'])
  expect(placed.map(({ status }) => status)).toEqual([201, 201, 201])
  expect(await shop.transactions()).toBe(before + 1)
  // The cart of the rejected order is unchanged, and nothing is reserved for it.
  expect((await many.buyer.get('/api/cart')).json).toMatchObject({ count: 1 })
  expect(await shop.traces()).toMatchObject([{ orders: 4, lines: 4, accounts: 4, reservations: 4 }])
})

test('an order with a limited promotion code does not join a group commit', async () => {
  const shop = await useTogether()
  await shop.stock(shop.mug, 100)
  const promotion = await shop.made('promotions', {
    name: 'Ten off',
    class: 'order',
    effect: { type: 'percentage', percentage_ppm: 100_000 },
    needs_code: true,
    uses_max: 3
  })
  await shop.made(`promotions/${promotion.id}/codes`, { code: 'TEN' })
  shop.wait(4)
  const bodies = [{ codes: ['TEN'] }, { codes: ['TEN'] }, {}, {}]
  const answers = await Promise.all(
    bodies.map(body => shop.as(customer()).post('/api/orders', { ...sent(shop.mug), ...body }))
  )
  for (const { status, text } of answers) expect(status, text).toBe(201)
  expect(await shop.transactions()).toBe(3)
})

const ROWS_OF = {
  'orders.orders': 'id',
  'orders.groups': 'order_id',
  'orders.lines': 'order_id',
  'orders.breakdowns': 'order_id',
  'orders.history': 'order_id',
  'payments.accounts': 'order_id',
  'shipping.shipments': 'order_id'
}
/** What no other order shares. */
const OF_ONE = `{id,number,reference,buyer,network,actor,customer_id,order_id,created_at,updated_at,progressed_at,placed_at,expires_at,at}`

test('simultaneous orders of all kinds store the same rows as each of them on its own', async () => {
  const shop = await useTogether({
    CARTWRIGHT__PAYMENTS__MANUAL_METHODS: '["bank_transfer","cash_on_delivery","on_account"]'
  })
  const [sample, song, gift] = [
    await shop.sell({ price: 0 }),
    await shop.sell({ requires_shipping: false }),
    await shop.sell({ requires_shipping: false, price: 0 })
  ]
  for (const variant of [shop.mug, sample, song, gift]) await shop.stock(variant, 1_000)
  const quote = await shop.admin.post('/api/admin/orders/quote', sent(shop.mug))
  const options: { id: string; amount: number }[] = quote.json.groups?.[0]?.options ?? []
  expect(options.length, quote.text).toBeGreaterThan(1)
  const kinds = [
    sent(shop.mug, 1),
    { ...sent(shop.mug, 2), payment: TRANSFER, note: '{"at":1}' },
    ...options.map(({ id }) => ({ ...sent(shop.mug, 3), shipping_option: id })),
    { ...sent(song, 4), payment: { provider: 'manual', method: 'on_account' } },
    { ...sent(gift, 1), billing_address: { ...STOCKHOLM, company: '"],[' } },
    { ...sent(sample, 1), shipping_option: options.find(({ amount }) => amount === 0)?.id },
    { items: [itemOf(shop.mug, 5), itemOf(song, 6)], shipping_address: STOCKHOLM },
    { ...sent(shop.mug, 7), payment: { provider: 'manual', method: 'cash_on_delivery' } }
  ]
  const orders = kinds.flatMap((body, index) => [
    () => shop.as(customer()).post('/api/orders', body),
    index % 2 === 0
      ? () => shop.anonymous.post('/api/orders/guest', { ...body, email: `guest-${index}@example.com` })
      : () => shop.admin.post('/api/admin/orders', { ...body, customer_id: customer().id })
  ])
  const leftBy = async (id: string) => {
    const tables = Object.entries(ROWS_OF).map(([table, column]) =>
      shop.sql(
        `select to_jsonb(rows) - '${OF_ONE}'::text[] as row from ${table} as rows where ${column} = $1 order by 1`,
        [id]
      )
    )
    const whose = shop.sql(
      `select round(extract(epoch from o.expires_at - o.created_at))::int as waits, h.actor = o.customer_id as is_own,
         o.customer_id is null as is_guest, o.buyer = o.customer_id::text as is_buyer, o.network is null as is_anywhere,
         a.customer_id is not distinct from o.customer_id as pays, s.customer_id is not distinct from o.customer_id as gets
       from orders.orders o join orders.history h on h.order_id = o.id join payments.accounts a on a.order_id = o.id
       left join shipping.shipments s on s.order_id = o.id where o.id = $1 order by h.id, s.id`,
      [id]
    )
    const held = shop.sql(
      'select item_id, quantity from inventory.reservations where owner = $1 order by item_id',
      [id]
    )
    return Promise.all([...tables, held, whose])
  }
  const place = async (order: (typeof orders)[number]) => {
    const { status, text, json } = await order()
    expect(status, text).toBe(201)
    const { id, expires_at } = json.order ?? json
    const [row] = await shop.sql('select expires_at from orders.orders where id = $1', [id])
    expect(new Date(expires_at)).toEqual(new Date(row?.expires_at as Date))
    return id as string
  }
  const alone: unknown[] = []
  for (const order of orders) {
    shop.wait(1)
    alone.push(await leftBy(await place(order)))
  }
  shop.wait(orders.length)
  const { result: ids, statements } = await shop.record(() => Promise.all(orders.map(place)))
  expect(statements.filter(name => name === 'orders.insert_order')).toHaveLength(1)
  expect(await Promise.all(ids.map(leftBy))).toEqual(alone)
})
