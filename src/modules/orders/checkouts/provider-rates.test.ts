import { expect, test } from 'vitest'
import { carrierModule, EXPRESS } from '../../../../test/support/carrier.ts'
import { CHECKOUT_MODULES, itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { useTestDatabaseUrl } from '../../../../test/support/database.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'
import type { ParcelToRate, ProviderRate, ShippingRateProvider } from '../../shipping/index.ts'
import { deleteExpiredProviderRates } from '../../shipping/provider-rates/repository.ts'

shareShops()

type ListRates = ShippingRateProvider['listRates']
type Option = { readonly id: string; readonly service: string; readonly amount: number }
const RATE_WAIT = { CARTWRIGHT__SHIPPING__PROVIDER_TIMEOUT_MS: '20' }

/** A shop with post for 4.90 and 9.90, and these providers of rates. Without a `databaseUrl` no rate is stored. */
async function useProviders(
  providers: Readonly<Record<string, ListRates>>,
  { settings = {}, databaseUrl }: { settings?: Record<string, string>; databaseUrl?: string } = {}
) {
  const isFirst = databaseUrl === undefined
  const shop = await useCheckouts({
    modules: [...CHECKOUT_MODULES, carrierModule(providers)],
    settings: { CARTWRIGHT__MODULES__INVENTORY__ENABLED: 'false', ...settings },
    databaseUrl: databaseUrl ?? (await useTestDatabaseUrl())
  })
  if (isFirst) {
    await shop.sql('delete from shipping.provider_rates')
    await shop.usePost()
  }
  const buyer = shop.as(customer())
  const variantId = isFirst ? await shop.sell({ weight_grams: 250 }) : ''
  const request = { items: [itemOf(variantId, 2)], shipping_address: STOCKHOLM }
  const begin = async (fields: object = {}) => buyer.post('/api/checkouts', { ...request, ...fields })
  const estimate = () =>
    shop.anonymous.post('/api/shipping/rates', {
      items: [itemOf(variantId, 2)],
      destination: { country: 'SE', postal_code: '11151' }
    })
  const outcomes = (): Record<string, number> =>
    Object.fromEntries(
      [...shop.platform.metrics.all()]
        .filter(({ name }) => name === 'cartwright_shipping_rate_requests_total')
        .flatMap(metric => metric.samples())
        .filter(({ value }) => value > 0)
        .map(({ labels, value }) => [labels.outcome, value])
    )
  return { ...shop, buyer, request, begin, estimate, outcomes }
}
const optionsIn = ({ json }: { json: { groups: { options: Option[] }[] } }) => json.groups[0]?.options ?? []
const shown = (options: readonly Option[]) => options.map(({ service, amount }) => `${service} ${amount}`)
const OWN = ['In the shop 0', 'Standard 490', 'Express 990']
const WITH_PROVIDER = ['In the shop 0', 'Standard 490', 'Next day 700', 'Express 990']

test('a checkout, an estimate and an order show the option of a provider as an own one', async () => {
  const parcels: ParcelToRate[] = []
  const { begin, buyer, estimate, request, outcomes } = await useProviders({
    swift: async parcel => {
      parcels.push(parcel)
      return [EXPRESS]
    }
  })
  const checkout = await begin()
  expect(shown(optionsIn(checkout))).toEqual(WITH_PROVIDER)
  expect(parcels).toEqual([
    {
      destination: { country: 'SE', region: undefined, postalCode: '11151' },
      currency: 'USD',
      weightGrams: 500,
      valueMinor: 2_000,
      items: 2
    }
  ])
  const option = optionsIn(checkout).find(({ service }) => service === 'Next day')
  expect(option).toEqual({
    id: expect.any(String),
    method: 'shipping',
    provider: 'Swift',
    service: 'Next day',
    amount: 700,
    estimated_days: { min: 1, max: 1 }
  })
  const { rates } = (await estimate()).json
  expect(shown(rates)).toEqual(WITH_PROVIDER)
  expect(rates[2].id).toBe(option?.id)

  const order = await buyer.post('/api/orders', { ...request, shipping_option: option?.id })
  expect(order.status, order.text).toBe(201)
  expect(order.json).toMatchObject({ shipping_total: 700, total: 2_700 })
  expect(order.text).toContain('"service":"Next day"')
  const { json } = await buyer.get(`/api/shipping/order/${order.json.id}`)
  expect(json.items[0]).toMatchObject({
    provider: 'Swift',
    service: 'Next day',
    estimated_days: { min: 1, max: 1 }
  })
  expect(outcomes()).toEqual({ valid: 1 })
})

test('the price that a buyer saw stays the price in every process while the provider changes it', async () => {
  let amountMinor = 700
  const providers = { swift: async () => [{ ...EXPRESS, amountMinor: amountMinor++ }] }
  const shop = await useProviders(providers)
  const [, , option] = optionsIn(await shop.begin())
  const { json } = await shop.begin({ shipping_option: option?.id })
  const other = await useProviders(providers, { databaseUrl: shop.databaseUrl })
  const { statements } = await shop.record(() => shop.buyer.get(`/api/checkouts/${json.id}`))
  expect(statements.filter(name => name.startsWith('shipping.'))).toEqual(['shipping.find_provider_rates'])
  const elsewhere = await other.anonymous.post('/api/checkouts/guest', {
    ...shop.request,
    shipping_option: option?.id
  })
  expect(elsewhere.json.quote_hash).toBe(json.quote_hash)
  const order = await shop.buyer.post(`/api/checkouts/${json.id}/complete`, {})
  expect([order.status, order.json.shipping_total], order.text).toEqual([201, 700])
  expect(amountMinor).toBe(701)
})

test('two processes that ask a provider simultaneously show the same price', async () => {
  let asked = 0
  const both = Promise.withResolvers<void>()
  const providers = {
    swift: async () => {
      const amountMinor = 700 + asked++
      if (asked === 2) both.resolve()
      await both.promise
      return [{ ...EXPRESS, amountMinor }]
    }
  }
  const settings = { CARTWRIGHT__SHIPPING__PROVIDER_TIMEOUT_MS: '10000' }
  const shop = await useProviders(providers, { settings })
  const other = await useProviders(providers, { databaseUrl: shop.databaseUrl, settings })
  const [one, two] = await Promise.all([
    shop.begin(),
    other.as(customer()).post('/api/checkouts', shop.request)
  ])
  expect(asked).toBe(2)
  expect(shown(optionsIn(one))).toEqual(shown(optionsIn(two)))
})

test('a chosen option that is no longer offered, or costs more, is not ordered', async () => {
  let rates: ProviderRate[] = [EXPRESS]
  const { begin, buyer, sql, db } = await useProviders({ swift: async () => rates })
  const [, , option] = optionsIn(await begin())
  const [first, second] = [
    await begin({ shipping_option: option?.id }),
    await begin({ shipping_option: option?.id })
  ]
  const expire = () => sql("update shipping.provider_rates set expires_at = now() - interval '1 second'")
  rates = [{ ...EXPRESS, amountMinor: 800 }]
  await expire()
  const dearer = await buyer.post(`/api/checkouts/${first.json.id}/complete`, {})
  expect([dearer.status, dearer.json.code]).toEqual([409, 'ORDER_PRICE_CHANGED'])
  rates = []
  await expire()
  const gone = await buyer.post(`/api/checkouts/${second.json.id}/complete`, {})
  expect([gone.status, gone.json.code]).toEqual([409, 'SHIPPING_NOT_AVAILABLE'])
  expect(shown(gone.json.options)).toEqual(OWN)
  await expire()
  expect(await db.run(deleteExpiredProviderRates, { limit: 10 })).toBe(1)
})

test('providers that fail, hang or return an invalid result are omitted, and asked no more after five failures', async () => {
  const asked: string[] = []
  let aborted = 0
  const { begin, outcomes, log, estimate } = await useProviders(
    {
      swift: async () => [EXPRESS],
      broken: () => {
        asked.push('broken')
        throw new Error('no connection to 192.0.2.1')
      },
      wrong: async () => [{ ...EXPRESS, amountMinor: -1 }],
      hanging: (_parcel, signal) => {
        signal.addEventListener('abort', () => {
          aborted += 1
        })
        return new Promise(() => {})
      }
    },
    { settings: RATE_WAIT }
  )
  for (let count = 0; count < 6; count += 1) {
    const { status, json } = await begin()
    expect([status, shown(optionsIn({ json }))]).toEqual([201, WITH_PROVIDER])
  }
  expect(shown((await estimate()).json.rates)).toEqual(WITH_PROVIDER)
  expect([asked.length, aborted]).toEqual([5, 5])
  expect(outcomes()).toEqual({ valid: 1, failed: 5, invalid: 5, timed_out: 5, skipped: 6 })
  expect(log.filter(line => line.includes('192.0.2.1'))).toHaveLength(5)
})

test('while a provider hangs, its callers hold no request slot, no connection and no lock', async () => {
  const hanging: (() => void)[] = []
  const { begin, buyer, request, estimate, admin, anonymous, platform, sql } = await useProviders(
    { slow: () => new Promise(resolve => hanging.push(() => resolve([EXPRESS]))) },
    { settings: { CARTWRIGHT__SHIPPING__PROVIDER_TIMEOUT_MS: '10000' } }
  )
  const used = () =>
    [...platform.metrics.all()].find(({ name }) => name === 'cartwright_request_slots_used')?.samples()[0]
      ?.value
  const begun = begin({ items: [itemOf(request.items[0]?.variant_id ?? '', 3)] })
  await expect.poll(() => hanging.length).toBe(1)
  hanging.shift()?.()
  const path = `/api/checkouts/${(await begun).json.id}`
  await sql('delete from shipping.provider_rates')

  // Each has another quantity, because simultaneous requests for equal parcels share one call.
  const buying = (quantity: number) => ({
    ...request,
    items: [itemOf(request.items[0]?.variant_id ?? '', quantity)]
  })
  const guest = (quantity: number) => ({ ...buying(quantity), email: 'ada@example.com' })
  const payment = { provider: 'manual', method: 'bank_transfer' }
  const requests = [
    estimate(),
    buyer.get(path),
    begin(buying(4)),
    buyer.put(path, buying(5)),
    buyer.post('/api/orders', buying(6)),
    anonymous.post('/api/checkouts/guest', guest(7)),
    anonymous.post('/api/orders/guest', guest(8)),
    admin.post('/api/admin/orders/quote', buying(9)),
    admin.post('/api/admin/orders', { ...guest(10), payment }),
    // Shares the call of the read.
    buyer.post(`${path}/complete`, {}, { 'idempotency-key': crypto.randomUUID() })
  ]
  let answered = 0
  for (const each of requests) each.then(() => (answered += 1))
  await expect.poll(() => hanging.length).toBe(requests.length - 1)
  await expect.poll(used).toBe(0)
  expect(answered).toBe(0)
  const [held] = await sql(`
    select
      (select count(*)::int from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
          and backend_type = 'client backend') as transactions,
      (select count(*)::int from pg_locks join pg_database on pg_database.oid = database
        where datname = current_database() and pid <> pg_backend_pid()
          -- The process that measures the backlog holds an advisory lock.
          and locktype <> 'advisory') as locks`)
  expect(held).toEqual({ transactions: 0, locks: 0 })
  for (const answer of hanging) answer()
  const answers = await Promise.all(requests)
  expect(answers.map(({ status }) => status).filter(status => status >= 500)).toEqual([])
  expect(used()).toBe(0)
})
