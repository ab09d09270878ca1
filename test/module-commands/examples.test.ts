// Lane alone: the examples declare statements, events and ports, which other tests of the process would find.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { inventoryModule } from '../../src/modules/inventory/index.ts'
import { notificationsModule } from '../../src/modules/notifications/index.ts'
import { ordersModule } from '../../src/modules/orders/index.ts'
import { paymentsModule } from '../../src/modules/payments/index.ts'
import { pricingModule } from '../../src/modules/pricing/index.ts'
import { reviewsModule } from '../../src/modules/reviews/index.ts'
import { shippingModule } from '../../src/modules/shipping/index.ts'
import { newWrite } from '../../src/platform/idempotency/write.ts'
import { admin, customer } from '../../src/testing.ts'
import { CHECKOUT_MODULES, STOCKHOLM } from '../support/checkouts.ts'
import { useOrders } from '../support/orders.ts'
import { readPublicExports } from '../support/public-exports.ts'
import {
  compileExamples,
  type Example,
  generatedExamples,
  guideExample,
  membersOf,
  readExamples,
  runExample,
  sourceExamples
} from './examples.ts'

const examples = [...sourceExamples(), ...generatedExamples(), guideExample()]
/** `test/resource-fields/guide.test.ts` runs it. */
const fields = guideExample('Fields on resources of other modules')
const fieldsExample: Example = { ...fields, code: `${fields.code}\nhandOver(shelvesModule)` }

/** A customer and a job that no other example uses. */
function newCaller() {
  const customerId = newId()
  const identity = { userId: customerId, role: 'customer', scopes: null, sessionId: null, expiresAt: 0 }
  const headers = { 'x-checkout-token': 'a token' }
  const request = { identity, headers, write: newWrite(), ip: '127.0.0.1' }
  return { customerId, request, job: { id: newId() } }
}

/** What the examples use, in a shop of their own. */
async function useGiven() {
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, reviewsModule, notificationsModule] })
  const [row] = await shop.sql('select sku, product_id from catalog.variants where id = $1', [shop.mug])
  const { json: category } = await shop.as(admin()).post('/api/catalog/categories', { name: 'Mugs' })
  const review = await shop.as(customer()).post(`/api/products/${row?.product_id}/reviews`, { rating: 5 })
  const stockedVariantId = await shop.sell()
  await shop.stock(stockedVariantId, 100)
  return {
    assert,
    orders: shop.apiOf(ordersModule),
    catalog: shop.apiOf(catalogModule),
    pricing: shop.apiOf(pricingModule),
    inventory: shop.apiOf(inventoryModule),
    payments: shop.apiOf(paymentsModule),
    shipping: shop.apiOf(shippingModule),
    reviews: shop.apiOf(reviewsModule),
    notifications: shop.apiOf(notificationsModule),
    db: shop.db,
    databaseUrl: shop.databaseUrl,
    Readable,
    variantId: shop.mug,
    stockedVariantId,
    ...(await createPrices(shop)),
    categoryId: category.id,
    reviewId: review.json.id,
    sku: row?.sku,
    shipping_address: STOCKHOLM,
    ...newCaller()
  }
}

/** A price list of a market that no other example buys in, and a promotion that needs a code. */
async function createPrices({ made, admin, mug }: Awaited<ReturnType<typeof useOrders>>) {
  const { id: priceListId } = await made('price-lists', { name: 'Switzerland', currency: 'CHF' })
  const prices = [{ variant_id: mug, from_quantity: 1, price: 900 }]
  await admin.put(`/api/admin/price-lists/${priceListId}/prices`, { prices })
  const market = { code: 'ch', name: 'Switzerland', countries: ['CH'], currency: 'CHF', locale: 'de-CH' }
  await made('markets', { ...market, prices_include_tax: true, price_list_id: priceListId })
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const combines = ['line', 'order', 'shipping']
  const promotion = { name: 'A tenth off', class: 'order', effect, combines, needs_code: true }
  const { id: promotionId } = await made('promotions', promotion)
  await made(`promotions/${promotionId}/codes`, { code: 'TENTH' })
  return { priceListId, promotionId }
}

/** The APIs of modules that the package exports, and the groups of commands in them. */
const APIS = [
  ...readPublicExports()
    .filter(({ kind, name }) => kind === 'type' && name.endsWith('Api'))
    .map(({ path, name }) => [path, name] as const),
  ['src/modules/orders/commands/contract.ts', 'CheckoutCommands'],
  ['src/modules/orders/commands/contract.ts', 'OrderCommands']
] as const

/** Members that are groups of functions, which have the examples. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  OrdersApi: ['checkouts', 'orders']
}

test('the exported APIs of modules are found', () => {
  expect(APIS.map(([, name]) => name)).toEqual(expect.arrayContaining(['CatalogApi', 'ShippingApi']))
})

test.each(APIS)('each function of the module API in %s has an example: %s', (path, type) => {
  const others = membersOf(path, type).filter(({ hasExample }) => !hasExample)
  expect(others.map(({ name }) => name)).toEqual(GROUPS[type] ?? [])
})

const nameOf = (example: Example | undefined) => `${example?.path} ${example?.member}`

const WRONG: Example = {
  path: 'a contract',
  member: 'begin',
  code: "await orders.checkouts.begin({ kind: 'customer' }, { items: [] }, newWrite())"
}

test('the examples compile, and a wrong one does not', () => {
  const all = [...examples, fieldsExample]
  const [wrong = [], ...others] = compileExamples([WRONG, ...all])
  expect(wrong).toEqual([expect.stringContaining("Property 'customerId' is missing")])
  const faults = others.flatMap((found, index) => found.map(fault => [nameOf(all[index]), fault]))
  expect(faults).toEqual([])
})

test('the examples run, in one shop', async () => {
  const given = await useGiven()
  const faults: [string, unknown][] = []
  for (const example of examples)
    await runExample(example, { ...given, ...newCaller() }).catch(fault =>
      faults.push([nameOf(example), fault])
    )
  expect(faults).toEqual([])
})

test('the example of a command fails when its assertion is wrong', async () => {
  const [wrong] = readExamples(
    'a contract',
    ['/**', ' * Lists orders.', ' * @example', " * const buyer = { kind: 'customer', customerId } as const"]
      .concat([
        ' * const { items } = await orders.orders.list(buyer, {})',
        ' * assert.equal(items.length, 1)'
      ])
      .concat([' */', 'list(): void'])
      .join('\n')
  )
  if (wrong === undefined) throw new Error('no example was read')
  await expect(runExample(wrong, await useGiven())).rejects.toThrow('Expected values to be strictly equal')
})
