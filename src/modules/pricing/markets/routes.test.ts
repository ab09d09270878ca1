import { describe, expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { runSql } from '../../../../test/support/sql.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import { pricingModule } from '../index.ts'
import { ensureDefaultMarket } from './service.ts'

shareShops()

const MARKETS = '/api/admin/markets'
const EUROPE = {
  code: 'de',
  name: 'Germany',
  countries: ['DE', 'AT'],
  currency: 'EUR',
  prices_include_tax: true,
  locale: 'de-DE'
}
const useEmptyPricing = () => usePricing({ without: ['markets'] })

test("the first start creates a default market in the shop's currency", async () => {
  needsOwnShop()
  const {
    admin,
    anonymous,
    pricing: { markets },
    databaseUrl
  } = await useEmptyPricing()
  const { json } = await anonymous.get('/api/markets')
  expect(json).toEqual({
    items: [
      {
        code: 'default',
        name: 'Default',
        countries: [],
        currency: 'CHF',
        prices_include_tax: false,
        locale: 'en',
        is_default: true
      }
    ]
  })
  expect((await admin.get(`${MARKETS}?count=true`)).json).toMatchObject({
    total: 1,
    items: [{ code: 'default', tax_rounding: 'group', cash_rounding: 1, active: true, version: 1 }]
  })
  expect(await markets.resolve({})).toMatchObject({ code: 'default', currency: 'CHF' })
  await usePricing({ databaseUrl, currency: 'SEK' })
  expect((await admin.get(MARKETS)).json.items).toMatchObject([{ currency: 'SEK', version: 2 }])
})

test('a market is created, changed and deleted, and public while it is active', async () => {
  const { admin, anonymous } = await useEmptyPricing()
  const { status, json: made, headers } = await admin.post(MARKETS, EUROPE)
  expect([status, headers.etag]).toEqual([201, '"1"'])
  expect(made).toMatchObject({ ...EUROPE, tax_rounding: 'group', is_default: false })
  const path = `${MARKETS}/${made.id}`
  const shown = await anonymous.get('/api/markets')
  expect(shown.headers).toMatchObject({
    'cache-control': 'public, max-age=0, stale-if-error=300',
    vary: 'x-market, Accept-Encoding'
  })
  expect(shown.json.items).toMatchObject([{ code: 'de' }, { code: 'default' }])
  const same = await anonymous.get('/api/markets', undefined, { 'if-none-match': String(shown.headers.etag) })
  expect(same.status).toBe(304)

  const stale = await admin.patch(path, { active: false }, { 'if-match': '"7"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'PRICING_MARKET_STALE'])
  const change = { countries: ['DE', 'LU'], tax_rounding: 'line', active: false }
  const changed = await admin.patch(path, change, { 'if-match': '"1"' })
  expect([changed.status, changed.json]).toMatchObject([200, { ...change, version: 2 }])
  expect((await admin.patch(path, {})).json.version).toBe(2)
  expect((await anonymous.get('/api/markets')).json.items).toHaveLength(1)
  expect((await admin.get(path)).json).toEqual(changed.json)

  expect((await admin.delete(path)).status).toBe(204)
  const gone = [await admin.get(path), await admin.patch(path, { name: 'x' }), await admin.delete(path)]
  expect(gone.map(({ json }) => json.code)).toEqual(Array(3).fill('PRICING_MARKET_NOT_FOUND'))
  expect((await admin.post(MARKETS, { ...EUROPE, code: 'again' })).status).toBe(201)
})

test('a market is also read, changed and deleted by its code', async () => {
  const { admin, createMarket } = await useEmptyPricing()
  const { id } = await createMarket()
  expect((await admin.get(`${MARKETS}/de`)).json.id).toBe(id)
  expect((await admin.get(`${MARKETS}/${id.toUpperCase()}`)).json.id).toBe(id)
  expect((await admin.get(`${MARKETS}/default`)).json).toMatchObject({ code: 'default', is_default: true })
  const changed = await admin.patch(`${MARKETS}/de`, { name: 'Deutschland' }, { 'if-match': '"1"' })
  expect([changed.status, changed.json.name, changed.json.version]).toEqual([200, 'Deutschland', 2])
  expect((await admin.delete(`${MARKETS}/de`)).status).toBe(204)
  const unknown = await admin.get(`${MARKETS}/de`)
  expect([unknown.status, unknown.json.code]).toEqual([404, 'PRICING_MARKET_NOT_FOUND'])
})

test("a market's code is unique, and a country belongs to one market", async () => {
  const {
    admin,
    pricing: { markets }
  } = await useEmptyPricing()
  await admin.post(MARKETS, EUROPE)
  const other = { ...EUROPE, code: 'at', countries: ['CH', 'AT'] }
  expect((await admin.post(MARKETS, { ...EUROPE, countries: [] })).json.code).toBe(
    'PRICING_MARKET_CODE_TAKEN'
  )
  expect((await admin.post(MARKETS, other)).json).toMatchObject({
    code: 'PRICING_COUNTRY_TAKEN',
    errors: [{ path: 'body/countries' }]
  })
  expect((await markets.resolve({ country: 'CH' })).code).toBe('default')
  const { json } = await admin.post(MARKETS, { ...other, countries: ['CH'] })
  expect((await admin.patch(`${MARKETS}/${json.id}`, { countries: ['AT'] })).status).toBe(409)
  expect((await admin.get(`${MARKETS}/${json.id}`)).json.countries).toEqual(['CH'])
})

test('of two simultaneous markets with the same country one is rejected', async () => {
  const { admin } = await useEmptyPricing()
  const answers = await Promise.all(
    ['a', 'b', 'c', 'd'].map(code => admin.post(MARKETS, { ...EUROPE, code }))
  )
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
})

test('of processes that start simultaneously for the first time, one creates the default market', async () => {
  needsOwnShop()
  const { databaseUrl, db, admin } = await usePricing()
  const invalidation = { publish: () => {} } as unknown as CacheInvalidator
  for (let round = 0; round < 40; round += 1) {
    await runSql(databaseUrl, 'delete from pricing.markets')
    await Promise.all(Array.from({ length: 8 }, () => ensureDefaultMarket(db, invalidation, 'CHF')))
  }
  expect((await admin.get(MARKETS)).json.items).toMatchObject([{ code: 'default', version: 1 }])
})

test("the default market cannot be deleted or deactivated, and keeps the shop's currency", async () => {
  needsOwnShop()
  const { admin, anonymous } = await usePricing()
  const [{ id }] = (await admin.get(MARKETS)).json.items
  const path = `${MARKETS}/${id}`
  const refused = [
    await admin.delete(path),
    await admin.patch(path, { active: false }),
    await admin.patch(path, { currency: 'EUR' })
  ]
  expect(refused.map(({ json }) => json.code)).toEqual(Array(3).fill('PRICING_MARKET_DEFAULT'))
  const changes = {
    name: 'Home',
    countries: ['CH'],
    currency: 'CHF',
    cash_rounding: 5,
    prices_include_tax: true
  }
  expect((await admin.patch(path, changes)).json).toMatchObject(changes)
  expect((await anonymous.get('/api/markets')).json.items).toMatchObject([
    { name: 'Home', countries: ['CH'] }
  ])
})

describe('a wrong market', () => {
  test.each<[string, object]>([
    ['a code in capitals', { code: 'DE' }],
    ['a code that ends in a hyphen', { code: 'de-' }],
    ['a country that is none', { countries: ['Germany'] }],
    ['a country twice', { countries: ['DE', 'DE'] }],
    ['an unknown currency', { currency: 'EURO' }],
    ['a rounding to nothing', { cash_rounding: 0 }],
    ['another rounding of taxes', { tax_rounding: 'order' }],
    ['a language that is none', { locale: 'german' }],
    ['a field that is not known', { default: true }]
  ])('a market with %s is rejected', async (_what, fields) => {
    const { admin } = await useEmptyPricing()
    expect((await admin.post(MARKETS, { ...EUROPE, ...fields })).status).toBe(400)
    expect((await admin.get(`${MARKETS}?count=true`)).json.total).toBe(1)
  })
})

test('markets are listed by code in pages, and their number is limited', async () => {
  needsOwnShop()
  const { admin, sql } = await usePricing()
  await sql(
    `insert into pricing.markets (
      id, code, name, currency, prices_include_tax, tax_rounding, cash_rounding, locale, active)
    select gen_random_uuid(), 'm' || n, 'M', 'EUR', true, 'group', 1, 'en', true from generate_series(100, 348) n`
  )
  const { json } = await admin.get(`${MARKETS}?count=true&limit=2`)
  expect([json.total, json.items.map(({ code }: { code: string }) => code)]).toEqual([
    250,
    ['default', 'm100']
  ])
  const next = (await admin.get(`${MARKETS}?limit=1&cursor=${json.next_cursor}`)).json
  expect(next.items[0].code).toBe('m101')
  expect((await admin.post(MARKETS, EUROPE)).json).toMatchObject({ code: 'PRICING_MARKET_LIMIT', limit: 250 })
})

test('a request uses its named market, else the market of its country, else the default', async () => {
  const {
    admin,
    pricing: { markets }
  } = await useEmptyPricing()
  await admin.post(MARKETS, EUROPE)
  await admin.post(MARKETS, { ...EUROPE, code: 'gone', countries: ['FR'], active: false })
  const codeOf = async (wanted: Parameters<typeof markets.resolve>[0]) => (await markets.resolve(wanted)).code
  expect(await codeOf({ country: 'AT' })).toBe('de')
  expect(await codeOf({ country: 'US' })).toBe('default')
  expect(await codeOf({ country: 'FR' })).toBe('default')
  expect(await codeOf({ name: 'default', country: 'AT' })).toBe('default')
  await expect(markets.resolve({ name: 'gone' })).rejects.toMatchObject({
    code: 'PRICING_MARKET_UNKNOWN',
    details: { known: ['de', 'default'] }
  })
  expect(await markets.resolve({ name: 'de' })).toEqual({
    code: 'de',
    currency: 'EUR',
    countries: ['DE', 'AT'],
    pricesIncludeTax: true,
    taxRounding: 'group',
    cashRoundingMinor: 1,
    locale: 'de-DE',
    exclusive: true,
    priceListId: null
  })
})

test('another process sees a changed market within a second, and reads the database once', async () => {
  const one = await useEmptyPricing()
  const other = await usePricing({ databaseUrl: one.databaseUrl })
  expect((await other.pricing.markets.resolve({ country: 'DE' })).code).toBe('default')
  await one.admin.post(MARKETS, EUROPE)
  await expect
    .poll(async () => (await other.pricing.markets.resolve({ country: 'DE' })).code, { interval: 20 })
    .toBe('de')
  const sent = async () =>
    (await other.record(() => other.pricing.markets.resolve({ country: 'DE' }))).statements
  await expect.poll(sent).toEqual([])
})

test('all routes of the disabled pricing module return 503', async () => {
  const settings = { CARTWRIGHT__MODULES__PRICING__ENABLED: 'false' }
  const { as } = await useShop({ modules: [pricingModule], settings })
  for (const path of ['/api/markets', MARKETS]) expect((await as(null).get(path)).status).toBe(503)
})
