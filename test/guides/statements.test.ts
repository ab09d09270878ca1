import { expect, test } from 'vitest'
import { customer, type TestShop } from '../../src/testing.ts'
import { BUDGETS } from '../support/budgets.ts'
import { createProduct } from '../support/catalog.ts'
import { itemOf, STOCKHOLM } from '../support/checkouts.ts'
import { expectPage, tableOf } from '../support/generated-page.ts'
import { useOrders } from '../support/orders.ts'
import { PURCHASE_BUDGETS } from '../support/purchase-budgets.ts'

type Answer = Awaited<ReturnType<TestShop['request']>>
type Request = [route: string, send: () => Promise<Answer>]

/** Of so many runs, that with the fewest statements is the one for which everything is kept. */
const RUNS = 3
/** What the writer of stock sends for many orders, and what is read again when half a second has passed. */
const isOwn = (name: string) => !/^inventory\.(?!claim_)/.test(name)

test('docs/reference/statements.md lists the SQL statements that hot endpoints send', async () => {
  const shop = await useOrders({
    settings: {
      CARTWRIGHT__CATALOG__PAGE_CACHE_SECONDS: '86400',
      CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '100'
    }
  })
  const sizes = ['S', 'M', 'L']
  const shirt = await createProduct(shop, {
    options: [{ name: 'Size', values: sizes }],
    variants: sizes.map(Size => ({ sku: `SHIRT-${Size}`, price: 2_000, attributes: { Size } }))
  })
  const items = shirt.variants.map(({ id }: { id: string }) => itemOf(id))
  const buyer = shop.as(customer())
  const { anonymous, mug } = shop
  const key = () => ({ 'idempotency-key': crypto.randomUUID() })
  const guest = {
    'x-guest-cart-token': (await anonymous.post('/api/guest-cart', itemOf(mug))).json.guest_cart_token
  }
  const checkout = (await buyer.post('/api/checkouts', { items, shipping_address: STOCKHOLM })).json.id
  const order = (await buyer.post('/api/orders', { items, shipping_address: STOCKHOLM })).json.id
  const fill = () => buyer.post('/api/cart/merge', { items })

  const requests: Request[] = [
    ['GET /api/products', () => anonymous.get('/api/products?limit=24')],
    ['GET /api/products/{id}', () => anonymous.get(`/api/products/${shirt.id}`)],
    ['GET /api/cart', () => buyer.get('/api/cart')],
    ['GET /api/cart/count', () => buyer.get('/api/cart/count')],
    ['POST /api/cart', () => buyer.post('/api/cart', itemOf(mug))],
    ['POST /api/cart, with an Idempotency-Key', () => buyer.post('/api/cart', itemOf(mug), key())],
    ['PUT /api/cart/items/{variantId}', () => buyer.put(`/api/cart/items/${mug}`, { quantity: 2 })],
    ['POST /api/cart/merge', fill],
    ['POST /api/guest-cart', () => anonymous.post('/api/guest-cart', itemOf(mug))],
    ['GET /api/guest-cart', () => anonymous.get('/api/guest-cart', undefined, guest)],
    ['POST /api/checkouts', () => buyer.post('/api/checkouts', { items, shipping_address: STOCKHOLM })],
    ['GET /api/checkouts/{id}', () => buyer.get(`/api/checkouts/${checkout}`)],
    ['PUT /api/checkouts/{id}', () => buyer.put(`/api/checkouts/${checkout}`, { items })],
    ['POST /api/orders', () => buyer.post('/api/orders', { items, shipping_address: STOCKHOLM })],
    [
      'POST /api/orders, with an Idempotency-Key',
      () => buyer.post('/api/orders', { items, shipping_address: STOCKHOLM }, key())
    ],
    ['GET /api/orders', () => buyer.get('/api/orders')],
    ['GET /api/orders/{id}', () => buyer.get(`/api/orders/${order}`)]
  ]
  const rows: string[][] = []
  for (const [route, send] of requests) {
    const all: string[][] = []
    // What is kept is read again when the message of an earlier change arrives.
    for (let time = 0; time < RUNS; time += 1) {
      const { result, statements } = await shop.record(send)
      expect(result.status, `${route}: ${result.text}`).toBeLessThan(300)
      all.push(statements.filter(isOwn))
    }
    const fewest = Math.min(...all.map(names => names.length))
    const names = all.findLast(({ length }) => length === fewest) ?? []
    rows.push([
      `\`${route.replace(',', '`,')}${route.includes(',') ? '' : '`'}`,
      String(names.length),
      names.join(', ')
    ])
  }
  await expectPage('reference/statements.md', () =>
    [
      tableOf(['request', 'statements', 'which'], rows),
      PURCHASES,
      tableOf(['purchase', 'statements', 'buffers', 'WAL, bytes'], purchaseRows()),
      BUFFERS,
      tableOf(['request', 'buffers'], budgetRows())
    ].join('\n\n')
  )
})

const PURCHASES = `## Budgets of a purchase

What a whole purchase costs the database: the requests of its cart and checkout, the order, its payment, and all events, jobs and mails
until the last one is handled. Statements are exact, without \`begin\` and \`commit\`, and with those of the stock writer. Buffers and WAL are
limits. WAL does not include images of full pages, which PostgreSQL writes after a checkpoint. A test buys from a shop and fails when a
purchase costs more, or much less.`

const purchaseRows = () =>
  PURCHASE_BUDGETS.map(({ buyer, payment, statements, buffers, walBytes }) =>
    [`${buyer}, ${payment}`, statements, buffers, walBytes].map(String)
  )

const BUFFERS = `## Buffers of a request

What a request may read at most, in buffers of PostgreSQL (8 KiB each), however large the catalog and however many orders. Each is measured
with the queries that are hardest for its route: texts of which nothing has one, statuses that no order has together, counts. A test sends
them to a shop of 10,000 products and 20,000 orders, on which PostgreSQL chooses the plans that it chooses for 200,000 and 1,000,000.`

const budgetRows = () =>
  Object.entries(BUDGETS).map(([route, budget]) => [
    `\`GET ${route.split('?')[0]}\``,
    'unbounded' in budget ? budget.unbounded : String(budget.buffers)
  ])
