import { expect, test } from 'vitest'
import { carrierModule, EXPRESS } from '../../../../test/support/carrier.ts'
import { CHECKOUT_MODULES, itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { moduleProviding } from '../../../../test/support/ports.ts'
import { provide } from '../../../kernel/ports.ts'
import type { Module } from '../../../module.ts'
import { customer } from '../../../testing.ts'
import { taxEnginePort } from '../../pricing/index.ts'

const LIMIT = 4
const [HERE, ELSEWHERE] = [{ 'x-forwarded-for': '192.0.2.1' }, { 'x-forwarded-for': '198.51.100.7' }]

/** A shop behind a proxy in which one client address may cause four requests to providers a minute. */
async function useLimited(module: Module) {
  const shop = await useCheckouts({
    modules: [...CHECKOUT_MODULES, module],
    settings: {
      CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'true',
      CARTWRIGHT__RATE_LIMIT__PROVIDER_REQUESTS_PER_MINUTE: String(LIMIT),
      CARTWRIGHT__MODULES__INVENTORY__ENABLED: 'false'
    }
  })
  await shop.usePost()
  const variantId = await shop.sell()
  const purchase = (quantity: number) => ({
    items: [itemOf(variantId, quantity)],
    shipping_address: STOCKHOLM
  })
  const quantities = Array.from({ length: LIMIT + 1 }, (_, index) => index + 1)
  return { ...shop, purchase, quantities, buyer: shop.as(customer()) }
}
type Answer = { status: number; json: { code?: string }; headers: Record<string, unknown> }
const isLimited = ({ status, json, headers }: Answer) =>
  status === 429 && json.code === 'PROVIDER_REQUESTS_LIMITED' && Number(headers['retry-after']) > 0

test('a client that asks for the rates of many parcels gets 429, and other clients are not affected', async () => {
  let asked = 0
  const { anonymous, admin, buyer, purchase, quantities, sql } = await useLimited(
    carrierModule({
      swift: async () => {
        asked += 1
        return [EXPRESS]
      }
    })
  )
  const estimate = (grams: number, from: Record<string, string>) =>
    anonymous.post(
      '/api/shipping/rates',
      { weight_grams: grams, value: 1, destination: { country: 'SE' } },
      from
    )
  const begin = (quantity: number, from: Record<string, string>) =>
    anonymous.post('/api/checkouts/guest', purchase(quantity), from)

  const answers = []
  for (const grams of quantities) answers.push(await estimate(grams, HERE))
  expect(answers.map(isLimited)).toEqual([...Array(LIMIT).fill(false), true])
  expect([asked, (await sql('select from shipping.provider_rates')).length]).toEqual([LIMIT, LIMIT])
  // The limit is that of the address, for checkouts and for orders of customers too.
  expect(isLimited(await begin(1, HERE))).toBe(true)
  expect(isLimited(await buyer.post('/api/orders', purchase(1), HERE))).toBe(true)
  // A parcel with stored rates is not asked for again.
  expect((await estimate(1, HERE)).json.rates).toHaveLength(4)
  const checkout = await begin(1, ELSEWHERE)
  expect(checkout.status, checkout.text).toBe(201)
  expect((await begin(1, HERE)).status).toBe(201)
  expect((await estimate(quantities.length, ELSEWHERE)).json.rates).toHaveLength(4)
  for (const quantity of quantities)
    expect((await admin.post('/api/admin/orders/quote', purchase(quantity), HERE)).status).toBe(200)
})

test('a client that asks for the taxes of many purchases gets 429, and other clients are not affected', async () => {
  let asked = 0
  const { anonymous, buyer, purchase, quantities, sql } = await useLimited(
    moduleProviding(
      provide(taxEnginePort, 'abacus', {
        computeTaxes: async ({ components }) => {
          asked += 1
          return components.map(() => ({ ratePpm: 0, taxMinor: 0 }))
        }
      })
    )
  )
  const begin = (quantity: number, from: Record<string, string>) =>
    anonymous.post('/api/checkouts/guest', purchase(quantity), from)
  const answers = []
  for (const quantity of quantities) answers.push(await begin(quantity, HERE))
  expect(answers.map(isLimited)).toEqual([...Array(LIMIT).fill(false), true])
  expect([asked, (await sql('select from pricing.tax_answers')).length]).toEqual([LIMIT, LIMIT])
  expect((await buyer.post('/api/orders', purchase(1), HERE)).status).toBe(201)
  expect((await begin(quantities.length, ELSEWHERE)).status).toBe(201)
})

test('a shop without providers has no limit of requests to them', async () => {
  const { anonymous, quantities } = await useLimited(carrierModule({}))
  for (const weight_grams of quantities) {
    const body = { weight_grams, value: 1, destination: { country: 'SE' } }
    expect((await anonymous.post('/api/shipping/rates', body, HERE)).status).toBe(200)
  }
})
