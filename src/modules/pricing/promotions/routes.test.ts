import { describe, expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const PROMOTIONS = '/api/admin/promotions'
const TENTH = { name: 'A tenth off', class: 'line', effect: { type: 'percentage', percentage_ppm: 100_000 } }
const useEmptyPricing = () => usePricing({ without: ['promotions', 'markets'] })

test('a promotion is created with defaults, changed, listed and deleted', async () => {
  const { admin } = await useEmptyPricing()
  const { status, json: made, headers } = await admin.post(PROMOTIONS, TENTH)
  expect([status, headers.etag]).toEqual([201, '"1"'])
  expect(made).toMatchObject({
    ...TENTH,
    priority: 0,
    active: true,
    starts_at: null,
    ends_at: null,
    markets: null,
    needs_code: false,
    minimum: null,
    minimum_quantity: 0,
    product_ids: null,
    category_ids: null,
    first_order_only: false,
    shipping_method_ids: null,
    cheapest_only: false,
    combines: [],
    uses_max: null,
    uses_left: null,
    uses_per_customer: null,
    version: 1
  })
  const path = `${PROMOTIONS}/${made.id}`
  const change = {
    class: 'order',
    priority: 5,
    minimum: { CHF: 5_000, EUR: 4_500 },
    minimum_quantity: 2,
    product_ids: [newId()],
    category_ids: [newId()],
    first_order_only: true,
    effect: { type: 'amount', amounts: { CHF: 500 } },
    combines: ['shipping'],
    markets: ['default'],
    uses_max: 50,
    uses_per_customer: 1,
    needs_code: true,
    active: false
  }
  expect((await admin.patch(path, change, { 'if-match': '"9"' })).json.code).toBe('PRICING_PROMOTION_STALE')
  const { json: changed } = await admin.patch(path, change, { 'if-match': '"1"' })
  expect(changed).toMatchObject({ ...change, uses_left: 50, name: TENTH.name, version: 2 })
  expect((await admin.patch(path, {})).json).toEqual(changed)
  expect((await admin.patch(path, { markets: null, uses_max: null, minimum: null })).json).toMatchObject({
    markets: null,
    uses_max: null,
    uses_left: null,
    minimum: null,
    uses_per_customer: 1
  })
  const { json: other } = await admin.post(PROMOTIONS, { ...TENTH, name: 'Other' })
  const { json } = await admin.get(`${PROMOTIONS}?count=true&limit=1`)
  expect([json.total, json.items]).toEqual([2, [other]])
  expect((await admin.get(`${PROMOTIONS}?cursor=${json.next_cursor}`)).json.items).toMatchObject([
    { id: made.id }
  ])

  await admin.post(`${path}/codes`, { code: 'GONE' })
  expect((await admin.delete(path)).status).toBe(204)
  const gone = [await admin.get(path), await admin.patch(path, {}), await admin.delete(path)]
  for (const answer of [
    ...gone,
    await admin.get(`${path}/codes`),
    await admin.post(`${path}/codes`, { code: 'X' })
  ])
    expect(answer.json.code).toBe('PRICING_PROMOTION_NOT_FOUND')
  expect((await admin.post(`${PROMOTIONS}/${other.id}/codes`, { code: 'gone' })).status).toBe(201)
})

describe('a wrong promotion', () => {
  test.each<[string, string, object]>([
    ['an end before the start', 'PRICING_PERIOD_INVALID', { starts_at: '2026-03-02', ends_at: '2026-03-01' }],
    ['a day that there is not', 'PRICING_MOMENT_INVALID', { starts_at: '2026-02-30' }],
    [
      'a fixed price of an order',
      'PRICING_EFFECT_INVALID',
      { class: 'order', effect: { type: 'fixed_price', amounts: { CHF: 1 } } }
    ],
    ['free delivery of a line', 'PRICING_EFFECT_INVALID', { effect: { type: 'free_shipping' } }],
    ['an unknown market', 'PRICING_PROMOTION_MARKET_UNKNOWN', { markets: ['default', 'mars'] }],
    ['an unknown currency', 'VALIDATION_FAILED', { minimum: { XXX: 1 } }],
    ['no currency at all', 'VALIDATION_FAILED', { minimum: {} }],
    [
      'more than everything',
      'VALIDATION_FAILED',
      { effect: { type: 'percentage', percentage_ppm: 1_000_001 } }
    ],
    ['an effect of two kinds', 'VALIDATION_FAILED', { effect: { type: 'free_shipping', percentage_ppm: 1 } }],
    ['a time that is none', 'VALIDATION_FAILED', { ends_at: 'tomorrow' }]
  ])('a promotion with %s is rejected and changes nothing', async (_what, code, fields) => {
    const { admin } = await useEmptyPricing()
    const count = async () => (await admin.get(`${PROMOTIONS}?count=true`)).json.total
    const before = await count()
    const created = await admin.post(PROMOTIONS, { ...TENTH, ...fields })
    expect([created.status, created.json.code]).toEqual([400, code])
    const { json: made } = await admin.post(PROMOTIONS, TENTH)
    expect((await admin.patch(`${PROMOTIONS}/${made.id}`, fields)).json.code).toBe(code)
    expect((await admin.get(`${PROMOTIONS}/${made.id}`)).json.version).toBe(1)
    expect(await count()).toBe(before + 1)
  })
})

test("the days of a promotion are in the shop's time zone, and the last day counts in full", async () => {
  const { admin } = await usePricing({ settings: { CARTWRIGHT__SHOP__TIME_ZONE: 'Europe/Zurich' } })
  const period = { starts_at: '2026-03-28', ends_at: '2026-03-29' }
  const { json } = await admin.post(PROMOTIONS, { ...TENTH, ...period })
  expect(json).toMatchObject({ starts_at: '2026-03-27T23:00:00.000Z', ends_at: '2026-03-29T22:00:00.000Z' })
  const path = `${PROMOTIONS}/${json.id}`
  expect((await admin.patch(path, { ends_at: '2026-03-27' })).json.code).toBe('PRICING_PERIOD_INVALID')
  const moment = '2026-12-24T18:00:00.000Z'
  expect((await admin.patch(path, { starts_at: null, ends_at: moment })).json).toMatchObject({
    starts_at: null,
    ends_at: moment
  })
})

test('a market that a promotion names cannot be deleted', async () => {
  const { admin, createMarket } = await useEmptyPricing()
  const market = await createMarket()
  const { json } = await admin.post(PROMOTIONS, { ...TENTH, markets: ['de'] })
  const path = `/api/admin/markets/${market.id}`
  expect((await admin.delete(path)).json.code).toBe('PRICING_MARKET_IN_USE')
  await admin.delete(`${PROMOTIONS}/${json.id}`)
  expect((await admin.delete(path)).status).toBe(204)
})

/** So many that count by themselves, of which so many have ended, behind the back of the program. */
const insertMany = ({ sql }: Pick<Awaited<ReturnType<typeof usePricing>>, 'sql'>, count: number, ended = 0) =>
  sql(
    `with made as (
      insert into pricing.promotions (id, name, class, priority, active, ends_at, needs_code, minimum_quantity,
        first_order_only, effect, combines)
      select gen_random_uuid(), 'P', 'line', 0, true,
        case when n <= $2 then now() - interval '1 hour' end, false, 0, false,
        '{"type":"percentage","percentage_ppm":1000}', '{line}'
      from generate_series(1, $1) n returning id)
    insert into pricing.usage_limits (id) select id from made`,
    [count, ended]
  )

test('active automatic promotions are limited in number; ended ones and those with a code do not count', async () => {
  needsOwnShop()
  const shop = await usePricing()
  const { admin } = shop
  await insertMany(shop, 195, 6)
  expect((await admin.post(PROMOTIONS, { ...TENTH, needs_code: true })).status).toBe(201)
  const { json } = await admin.post(PROMOTIONS, TENTH)
  const refused = await admin.post(PROMOTIONS, TENTH)
  expect(refused.json).toMatchObject({ code: 'PRICING_PROMOTION_LIMIT', limit: 190 })
  await admin.patch(`${PROMOTIONS}/${json.id}`, { active: false })
  expect((await admin.post(PROMOTIONS, TENTH)).status).toBe(201)
  expect((await admin.patch(`${PROMOTIONS}/${json.id}`, { active: true })).status).toBe(409)
  const { json: ended } = await admin.post(PROMOTIONS, { ...TENTH, ends_at: '2020-01-01' })
  expect((await admin.patch(`${PROMOTIONS}/${ended.id}`, { ends_at: null })).status).toBe(409)
  const { json: coded } = await admin.post(PROMOTIONS, { ...TENTH, needs_code: true })
  expect((await admin.patch(`${PROMOTIONS}/${coded.id}`, { needs_code: false })).status).toBe(409)
})

test('simultaneous activations never exceed the limit of automatic promotions', async () => {
  needsOwnShop()
  const shop = await usePricing()
  await insertMany(shop, 187)
  const answers = await Promise.all(Array.from({ length: 12 }, () => shop.admin.post(PROMOTIONS, TENTH)))
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array(3).fill(201), ...Array(9).fill(409)])
})

test('a shop above the limit of automatic promotions still quotes, and each promotion can be changed and ended', async () => {
  needsOwnShop()
  const shop = await usePricing()
  const { admin } = shop
  const { json: own } = await admin.post(PROMOTIONS, { ...TENTH, combines: ['line'] })
  await insertMany(shop, 250)
  const codes = Array.from({ length: 10 }, (_, index) => `C${index}`)
  for (const code of codes) {
    const { json } = await admin.post(PROMOTIONS, { ...TENTH, needs_code: true, combines: ['line'] })
    await admin.post(`${PROMOTIONS}/${json.id}/codes`, { code })
  }
  const path = `${PROMOTIONS}/${own.id}`
  expect((await admin.patch(path, { name: 'Renamed', priority: 9 })).status).toBe(200)
  const quoted = async (count: number) =>
    admin.post(`${PROMOTIONS}/dry-run`, {
      lines: [{ quantity: 1, price: 100_000 }],
      codes: codes.slice(0, count)
    })
  expect((await shop.pricing.readRules({ codes, customer: null })).promotions).toHaveLength(200)
  for (const count of [0, 10]) expect((await quoted(count)).status).toBe(200)
  expect((await admin.patch(path, { active: false })).status).toBe(200)
})

test.each([[{ shipping_method_ids: [newId()] }], [{ cheapest_only: true }]])(
  'a promotion that is not about shipping rejects %o',
  async fields => {
    const { admin } = await useEmptyPricing()
    const { json } = await admin.post(PROMOTIONS, { ...TENTH, ...fields })
    expect(json).toMatchObject({ code: 'PRICING_PROMOTION_SHIPPING_ONLY', status: 400 })
  }
)

test('a promotion for a customer group is rejected, because customers have none', async () => {
  const { admin } = await useEmptyPricing()
  const refused = { status: 400, json: { errors: [{ path: 'body/customer_group' }] } }
  const explained = { json: { errors: [{ message: expect.stringContaining('Set needs_code') }] } }
  const { json: made } = await admin.post(PROMOTIONS, TENTH)
  const body = { customer_group: 'trade' }
  for (const answer of [
    await admin.post(PROMOTIONS, { ...TENTH, ...body }),
    await admin.patch(`${PROMOTIONS}/${made.id}`, body)
  ]) {
    expect(answer).toMatchObject(refused)
    expect(answer).toMatchObject(explained)
  }
  const lines = [{ quantity: 1, price: 100 }]
  expect(await admin.post(`${PROMOTIONS}/dry-run`, { lines, ...body })).toMatchObject(refused)
})
