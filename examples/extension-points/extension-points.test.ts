import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type PurchaseToCheck, standardModules } from 'cartwright'
import {
  admin,
  notificationTransportContract,
  openTestShop,
  orderCheckContract,
  taxEngineContract
} from 'cartwright/testing'
import { API_KEY, startFakeServices } from './fake-services.ts'
import { acmeMailModule, createAcmeMailTransport } from './mail-transport.ts'
import { createKnifeCheck, knivesModule } from './order-check.ts'
import { acmeTaxModule, createAcmeTaxEngine } from './tax-engine.ts'

const BERLIN = { name: 'Ada', line1: 'Torstraße 1', city: 'Berlin', postal_code: '10115', country: 'DE' }
/** Without auth, a test acts as any administrator. Without inventory, everything is in stock. */
const without = ['auth', 'inventory']
const modules = standardModules.filter(({ name }) => !without.includes(name))

let services: Awaited<ReturnType<typeof startFakeServices>>
let shop: Awaited<ReturnType<typeof openTestShop>>
before(async () => {
  services = await startFakeServices()
  shop = await openTestShop({
    modules: [...modules, acmeTaxModule, knivesModule, acmeMailModule],
    settings: {
      // Without payments, an order is placed when it is created.
      CARTWRIGHT__MODULES__PAYMENTS__ENABLED: 'false',
      CARTWRIGHT__ACME_TAX__URL: services.url,
      CARTWRIGHT__ACME_MAIL__URL: services.url,
      CARTWRIGHT__ACME_MAIL__API_KEY: API_KEY,
      CARTWRIGHT__NOTIFICATIONS__TRANSPORT: 'acme_mail',
      CARTWRIGHT__NOTIFICATIONS__FROM: 'shop@shop.example'
    }
  })
})
after(async () => {
  services.close()
  await shop.close()
})

test('the tax engine keeps the contract of pricing.tax', async t => {
  const cases = taxEngineContract({
    engine: createAcmeTaxEngine(shop.platform.http, services.url),
    currency: 'EUR',
    destination: { country: 'DE', region: null, postalCode: '10115' },
    service: services
  })
  for (const { name, run } of cases) await t.test(name, run)
})

test('the order check keeps the contract of orders.before_place', async t => {
  const knife = {
    id: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e',
    variantId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8f',
    productId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d90',
    sku: 'KNIFE-1',
    quantity: 1,
    metadata: {},
    totalMinor: 2_000
  }
  const allowed: PurchaseToCheck = {
    buyer: { customerId: null, email: 'ada@example.com' },
    lines: [knife],
    shippingAddress: BERLIN,
    billingAddress: null,
    metadata: { age_confirmed: 'yes' },
    market: 'default',
    currency: 'EUR',
    totals: {
      subtotalMinor: 2_000,
      discountMinor: 0,
      shippingMinor: 0,
      cashRoundingMinor: 0,
      taxMinor: 0,
      taxAddedMinor: 0,
      totalMinor: 2_000
    },
    quoteHash: 'a'.repeat(64)
  }
  const cases = orderCheckContract({
    check: createKnifeCheck('KNIFE-', ['GB']),
    allowed,
    refused: {
      AGE_MISSING: { ...allowed, metadata: {} },
      KNIFE_NOT_SHIPPED: { ...allowed, shippingAddress: { country: 'GB' } }
    }
  })
  for (const { name, run } of cases) await t.test(name, run)
})

test('the mail transport keeps the contract of notifications.transport', async t => {
  const { http } = shop.platform
  const cases = notificationTransportContract(() => {
    services.clearMessages()
    const transport = createAcmeMailTransport({ http, url: services.url, apiKey: API_KEY })
    return { ...services, transport, sender: 'shop@shop.example' }
  })
  for (const { name, run } of cases) await t.test(name, run)
})

test('a shop with all three checks, taxes and confirms an order', async () => {
  const variants = [{ sku: 'KNIFE-1', price: 10_000, requires_shipping: false }]
  const product = await shop.as(admin()).post('/api/catalog/products', { name: 'Knife', variants })
  assert.equal(product.status, 201, product.text)
  const order = {
    items: [{ variant_id: product.json.variants[0].id, quantity: 1 }],
    email: 'ada@example.com',
    billing_address: BERLIN
  }
  const guest = shop.as(null)
  const refused = await guest.post('/api/orders/guest', order)
  assert.deepEqual([refused.status, refused.json.code], [409, 'ORDER_NOT_ALLOWED'])
  assert.equal(refused.json.findings[0].check_code, 'AGE_MISSING')

  const placed = await guest.post('/api/orders/guest', { ...order, metadata: { age_confirmed: 'yes' } })
  assert.equal(placed.status, 201, placed.text)
  assert.equal(placed.json.tax_total, 700)
  const { tax_engine } = (await shop.as(admin()).get(`/api/admin/orders/${placed.json.id}`)).json
  assert.deepEqual(tax_engine, { name: 'acme_tax', is_fallback: false })
  const isOfOrder = ({ to, subject }: { to: string; subject: string }) =>
    to === 'ada@example.com' && subject.includes(placed.json.number)
  // The mail is sent by a job. The runner ends a test that waits forever.
  while (!services.accepted().some(isOfOrder)) await new Promise(resolve => setTimeout(resolve, 10))
})
