import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  catalogModule,
  type LabelRequest,
  ordersModule,
  paymentsModule,
  pricingModule,
  shippingModule
} from 'cartwright'
import {
  admin,
  customer,
  openTestShop,
  shippingLabelsContract,
  shippingRatesContract
} from 'cartwright/testing'
import { createAcmeClient } from './acme-parcels/client.ts'
import { acmeParcelsModule } from './acme-parcels/index.ts'
import { createAcmeLabels } from './acme-parcels/labels.ts'
import { createAcmeRates } from './acme-parcels/rates.ts'
import { API_KEY, startFakeAcmeParcels } from './fake-acme-parcels.ts'

const BERLIN = {
  name: 'Ada Lovelace',
  line1: 'Torstraße 1',
  postal_code: '10115',
  city: 'Berlin',
  country: 'DE'
}
type Option = { readonly id: string; readonly service: string; readonly amount: number }

let acme: Awaited<ReturnType<typeof startFakeAcmeParcels>>
let shop: Awaited<ReturnType<typeof openTestShop>>
let variantId: string
before(async () => {
  acme = await startFakeAcmeParcels()
  shop = await openTestShop({
    modules: [pricingModule, paymentsModule, catalogModule, shippingModule, ordersModule, acmeParcelsModule],
    settings: {
      CARTWRIGHT__SHOP__CURRENCY: 'EUR',
      // Without payments, an order can be sent when it is created.
      CARTWRIGHT__MODULES__PAYMENTS__ENABLED: 'false',
      CARTWRIGHT__SHIPPING__PROVIDER_TIMEOUT_MS: '1000',
      CARTWRIGHT__ACME_PARCELS__URL: acme.url,
      CARTWRIGHT__ACME_PARCELS__API_KEY: API_KEY
    }
  })
  const product = { name: 'Mug', variants: [{ sku: 'MUG', price: 1_000, weight_grams: 400 }] }
  variantId = (await made('catalog/products', product)).variants[0].id
  const pickup = await made('admin/shipping/methods', { kind: 'pickup', service: 'Pick up' })
  await made('admin/shipping/rates', { method_id: pickup.id, amount: 0 })
  await made('admin/shipping/carriers', {
    code: 'acme-parcels',
    name: 'Acme Parcels',
    tracking_url: 'https://acme-parcels.example/track/{tracking_number}',
    number_rules: [{ mask: 'AP########', check: null }]
  })
})
after(async () => {
  acme.close()
  await shop.close()
})

const manager = () => shop.as(admin())
const made = async (path: string, body: object) => {
  const { status, json, text } = await manager().post(`/api/${path}`, body)
  assert.equal(status, 201, text)
  return json
}

const buyer = customer()
const basketOf = (quantity: number) => ({
  items: [{ variant_id: variantId, quantity }],
  shipping_address: BERLIN
})
async function optionsOf(quantity: number): Promise<Option[]> {
  const { status, json, text } = await shop.as(buyer).post('/api/checkouts', basketOf(quantity))
  assert.equal(status, 201, text)
  return json.groups[0].options
}
const shown = (options: readonly Option[]) => options.map(({ service, amount }) => `${service} ${amount}`)

/** Places an order with express delivery, and returns it with the path of its label. */
async function order() {
  const express = (await optionsOf(2)).find(({ service }) => service === 'Acme Express')
  const { status, json, text } = await shop
    .as(buyer)
    .post('/api/orders', { ...basketOf(2), shipping_option: express?.id })
  assert.equal(status, 201, text)
  return { ...json, label: `/api/admin/shipping/shipments/${(await shipmentOf(json.id)).id}/label` }
}
const shipmentOf = async (orderId: string) =>
  (await shop.as(buyer).get(`/api/shipping/order/${orderId}`)).json.items[0]

/** Waits until the job has bought or voided a label. The runner ends a test that waits forever. */
async function labelWith(status: string, path: string) {
  for (;;) {
    const { json } = await manager().get(path)
    if (json.status === status) return json
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}

const PARCEL = {
  destination: { country: 'DE', postalCode: '10115' },
  weightGrams: 800,
  valueMinor: 2_000,
  items: 2,
  currency: 'EUR'
}
const LABELED_PARCEL: LabelRequest = {
  key: '',
  shipmentId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e',
  orderId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8f',
  orderNumber: '7Q3M-K0XD',
  service: null,
  option: { carrier: 'Acme Parcels', name: 'Acme Express' },
  recipient: BERLIN,
  weightGrams: 800,
  lines: [{ sku: 'MUG', name: 'Mug', quantity: 2 }]
}

test('the rates keep the contract of shipping.rates', async t => {
  const send = createAcmeClient({ http: shop.platform.http, url: acme.url, apiKey: API_KEY })
  const cases = shippingRatesContract({
    provider: createAcmeRates(send),
    parcel: PARCEL,
    undeliverable: { ...PARCEL, destination: { country: 'JP' } },
    otherCurrency: 'USD',
    service: acme
  })
  for (const { name, run } of cases) await t.test(name, run)
})

test('the labels keep the contract of shipping.labels', async t => {
  const send = createAcmeClient({ http: shop.platform.http, url: acme.url, apiKey: API_KEY })
  const cases = shippingLabelsContract({
    provider: createAcmeLabels(send),
    parcel: LABELED_PARCEL,
    refused: { ...LABELED_PARCEL, weightGrams: 40_000 },
    charged: () => acme.charged().map(({ tracking_number }) => tracking_number),
    service: acme
  })
  for (const { name, run } of cases) await t.test(name, run)
})

test('a checkout shows the rates of the carrier, and an order has the chosen one', async () => {
  const options = await optionsOf(2)
  assert.deepEqual(shown(options), ['Pick up 0', 'Acme Standard 490', 'Acme Express 990'])
  const { id, shipping_total } = await order()
  assert.equal(shipping_total, 990)
  const { provider, service } = await shipmentOf(id)
  assert.deepEqual([provider, service], ['Acme Parcels', 'Acme Express'])
})

for (const failure of ['hang', 'error', 'lost'] as const)
  test(`the rates are omitted when the carrier fails (${failure}), and return afterwards`, async () => {
    acme.failNext(failure)
    const quantity = { hang: 3, error: 4, lost: 5 }[failure]
    assert.deepEqual(shown(await optionsOf(quantity)), ['Pick up 0'])
    assert.equal((await optionsOf(quantity)).length, 3)
  })

test('a label is bought once, also when its answer is lost, and its parcel has the tracking number', async () => {
  const { id, label } = await order()
  const before = acme.charged().length
  acme.failNext('lost')
  const requested = await manager().post(label, {})
  assert.equal(requested.status, 202, requested.text)
  const { carrier, tracking_number } = await labelWith('ready', label)
  const [sold, ...others] = acme.charged().slice(before)
  assert.deepEqual([sold?.tracking_number, sold?.service, others], [tracking_number, 'express', []])
  const file = await manager().get(`${label}/file`)
  assert.equal(file.text, `%PDF ${tracking_number}`)

  const path = `/api/admin/orders/${id}/shipments`
  assert.equal((await manager().post(path, { carrier, tracking_number })).status, 200)
  const parcel = await shipmentOf(id)
  assert.equal(parcel.tracking_number, tracking_number)
  assert.equal(parcel.tracking_url, `https://acme-parcels.example/track/${tracking_number}`)

  const voided = await manager().post(`${path}/${parcel.id}/void`, { reason: 'The parcel was not sent.' })
  assert.equal(voided.status, 200, voided.text)
  await labelWith('voided', `/api/admin/shipping/shipments/${parcel.id}/label`)
  assert.equal(acme.charged().length, before)
})

test('a parcel that the carrier refuses has no label, and the administrator sees why', async () => {
  const { label } = await order()
  assert.equal((await manager().post(label, { weight_grams: 40_000 })).status, 202)
  const { problem } = await labelWith('failed', label)
  assert.equal(problem, 'A parcel weighs at most 30 kg.')
})
