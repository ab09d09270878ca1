import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const PROMOTIONS = '/api/admin/promotions'
const DRY_RUN = `${PROMOTIONS}/dry-run`
const TENTH = { name: 'A tenth off', class: 'line', effect: { type: 'percentage', percentage_ppm: 100_000 } }
const MUG = { quantity: 2, price: 1_000 }

async function useDryRun() {
  const shop = await usePricing({ without: ['promotions', 'markets', 'taxes/rates', 'taxes/zones'] })
  const { id: zone_id } = (await shop.admin.post('/api/admin/taxes/zones', { name: 'Swiss', country: 'CH' }))
    .json
  await shop.admin.post('/api/admin/taxes/rates', {
    zone_id,
    category: 'standard',
    name: 'VAT',
    rate_ppm: 100_000
  })
  const promote = async (code: string, fields: object = {}) => {
    const { id } = (await shop.admin.post(PROMOTIONS, { ...TENTH, name: code, needs_code: true, ...fields }))
      .json
    await shop.admin.post(`${PROMOTIONS}/${id}/codes`, { code })
    return id as string
  }
  const run = async (body: object) => (await shop.admin.post(DRY_RUN, { lines: [MUG], ...body })).json
  return { ...shop, promote, run }
}

test('a pricing dry run returns the price of a basket with its components, and redeems nothing', async () => {
  needsOwnShop()
  const { promote, run, sql } = await useDryRun()
  const id = await promote('TEN', { uses_max: 1 })
  const lines = [MUG, { quantity: 1, price: 500, discounted_price: 400, tax_category: 'books' }]
  const body = { lines, codes: ['ten'], destination: { country: 'CH' }, shipping_options: [{ amount: 700 }] }
  const quoted = await run(body)
  expect(quoted).toMatchObject({
    market: 'default',
    currency: 'CHF',
    subtotal: 2_500,
    discount: 340,
    shipping: 700,
    tax: 250,
    cash_rounding: 0,
    total: 3_110,
    findings: [],
    lines: [
      { index: 0, subtotal: 2_000, discount: 200, tax: 180, total: 1_800 },
      { index: 1, subtotal: 500, discount: 140, tax: 0, total: 360 }
    ],
    applied: [{ promotion_id: id, name: 'TEN', code: 'TEN', amount: 240 }]
  })
  expect(quoted.components).toContainEqual({
    kind: 'discount',
    line: 0,
    promotion_id: id,
    code: 'TEN',
    rate_ppm: null,
    tax_category: null,
    amount: -200,
    included: false,
    exempt: null
  })
  expect(await run(body)).toEqual(quoted)
  expect(await sql('select from pricing.redemptions')).toEqual([])
})

test('a pricing dry run applies tax exemptions and first orders of a customer', async () => {
  const { admin, promote, run, redeem } = await useDryRun()
  const ada = newId()
  const exemption = { customer_id: ada, company: 'Acme', reason: 'Export', ends_at: '2030-12-31' }
  await admin.post('/api/admin/taxes/exemptions', exemption)
  const destination = { country: 'CH' }
  const quoted = await run({ destination, customer_id: ada })
  expect(quoted).toMatchObject({ tax: 0, total: 2_000 })
  expect(quoted.components.at(-1)).toMatchObject({
    kind: 'tax',
    rate_ppm: 100_000,
    amount: 0,
    exempt: 'Export'
  })
  expect((await run({ destination, customer_id: newId() })).tax).toBe(200)
  expect((await run({ destination })).tax).toBe(200)
  expect((await run({ destination, customer_id: ada, at: '2031-01-01T00:00:00Z' })).tax).toBe(200)

  const promotionId = await promote('FIRST', { first_order_only: true })
  await redeem(newId(), [{ promotionId }], ada)
  const codesOf = async (body: object) =>
    (await run({ codes: ['first'], ...body })).findings.map(({ code }: { code: string }) => code)
  expect(await codesOf({ customer_id: ada })).toEqual(['CODE_FIRST_ORDER_ONLY'])
  expect(await codesOf({ customer_id: ada, first_order: true })).toEqual([])
  expect(await codesOf({ customer_id: newId() })).toEqual([])
  expect(await codesOf({ first_order: false })).toEqual(['CODE_FIRST_ORDER_ONLY'])
})

test('a pricing dry run accepts regions in every spelling, and rejects an unknown one where taxes depend on it', async () => {
  const { admin, run } = await useDryRun()
  const { id: zone_id } = (
    await admin.post('/api/admin/taxes/zones', { name: 'West', country: 'US', region: 'CA' })
  ).json
  await admin.post('/api/admin/taxes/rates', {
    zone_id,
    category: 'standard',
    name: 'Tax',
    rate_ppm: 72_500
  })
  const to = (country: string, region: string) => run({ destination: { country, region } })
  for (const region of ['CA', 'us-ca', 'California']) expect((await to('US', region)).tax, region).toBe(145)
  expect(await to('US', 'Calif.')).toMatchObject({
    code: 'PRICING_TAX_REGION_INVALID',
    errors: [{ path: 'body/destination/region' }]
  })
  expect((await to('CH', 'Nowhere')).tax).toBe(200)
})

test.each<[string, string, string, object, object?]>([
  ['is not known', 'CODE_UNKNOWN', 'no such code', {}],
  [
    'has not started',
    'CODE_NOT_STARTED',
    '2999-01-01T00:00:00.000Z (starts_at)',
    { starts_at: '2999-01-01' }
  ],
  ['has expired', 'CODE_EXPIRED', '2020-01-02T00:00:00.000Z (ends_at)', { ends_at: '2020-01-01' }],
  ['is for another currency', 'CODE_NOT_IN_MARKET', 'no amount in CHF (minimum)', { minimum: { EUR: 1 } }],
  [
    'takes nothing off in this currency',
    'CODE_NOT_IN_MARKET',
    'no amount in CHF (effect.amounts)',
    { effect: { type: 'amount', amounts: { EUR: 1 } } }
  ],
  ['is for another market', 'CODE_NOT_IN_MARKET', 'in other markets: de', { markets: ['de'] }],
  ['is for other products', 'CODE_NO_MATCHING_LINE', 'product_ids', { product_ids: [newId()] }],
  [
    'is for a first order',
    'CODE_FIRST_ORDER_ONLY',
    'first_order_only',
    { first_order_only: true },
    { first_order: false }
  ],
  [
    'is for another shipping method',
    'CODE_NOT_FOR_SHIPPING_METHOD',
    'shipping_method_ids',
    { class: 'shipping', effect: { type: 'free_shipping' }, shipping_method_ids: [newId()] },
    { shipping_options: [{ amount: 500, method_id: newId() }] }
  ],
  [
    'is for the cheapest delivery',
    'CODE_NOT_FOR_SHIPPING_METHOD',
    'cheapest_only',
    { class: 'shipping', effect: { type: 'free_shipping' }, cheapest_only: true },
    { shipping_options: [{ amount: 500 }, { id: 'express', amount: 900 }], shipping_option: 'express' }
  ],
  [
    'takes something off deliveries',
    'CODE_NO_EFFECT',
    'Set "shipping_options"',
    { class: 'shipping', effect: { type: 'free_shipping' } }
  ]
])(
  'in a pricing dry run, a code that %s has a finding that says so',
  async (_what, code, reason, fields, body = {}) => {
    const { promote, run, createMarket } = await useDryRun()
    await createMarket()
    const promotion_id = code === 'CODE_UNKNOWN' ? null : await promote('TEN', fields)
    const { findings, discount } = await run({ codes: ['ten'], ...body })
    expect(findings).toMatchObject([
      { code, promotion_code: 'TEN', promotion_id, message: expect.any(String), reason: expect.any(String) }
    ])
    expect(findings[0].reason).toContain(reason)
    expect(discount).toBe(0)
  }
)

test('an inactive code is unknown to shoppers, and a pricing dry run gives the reason', async () => {
  const { admin, promote, run } = await useDryRun()
  const promotion_id = await promote('TEN')
  const path = `${PROMOTIONS}/${promotion_id}`
  const finding = async () => (await run({ codes: ['ten'] })).findings
  await admin.patch(path, { active: false })
  expect(await finding()).toMatchObject([
    { code: 'CODE_UNKNOWN', promotion_id, reason: 'Its promotion is inactive (active).' }
  ])
  await admin.patch(path, { active: true })
  expect(await finding()).toEqual([])
  const { id } = (await admin.get(`${path}/codes`)).json.items[0]
  await admin.patch(`${path}/codes/${id}`, { active: false })
  expect(await finding()).toMatchObject([
    { code: 'CODE_UNKNOWN', promotion_id, reason: 'The code is inactive (active).' }
  ])
})

test('for a promotion code without effect, the dry run lists what is missing or what it conflicts with', async () => {
  const { promote, run } = await useDryRun()
  await promote('MORE', { minimum: { CHF: 5_000 }, minimum_quantity: 3 })
  const best = await promote('BEST', { effect: { type: 'percentage', percentage_ppm: 500_000 } })
  await promote('ALSO')
  const { findings } = await run({ codes: ['more', 'best', 'also'] })
  expect(findings).toMatchObject([
    { code: 'CODE_NOT_COMBINABLE', promotion_code: 'ALSO', conflicts_with: [{ id: best, name: 'BEST' }] },
    { code: 'CODE_MINIMUM', promotion_code: 'MORE', missing_amount: 3_000, missing_quantity: 1 }
  ])
  expect(findings.map(({ reason }: { reason: string }) => reason)).toEqual([
    expect.stringMatching(/“BEST” has no line in combines, this one has no line in combines, for “BEST”.$/),
    'Lines that match lack 3000 minor units of CHF (minimum) and 1 units (minimum_quantity).'
  ])
})

test('of two codes of one promotion one applies, and the other reports it', async () => {
  const { admin, promote, run } = await useDryRun()
  const id = await promote('ONE')
  await admin.post(`${PROMOTIONS}/${id}/codes`, { code: 'TWO' })
  const { findings, applied } = await run({ codes: ['two', 'one'] })
  expect(applied).toMatchObject([{ promotion_id: id, code: 'ONE', amount: 200 }])
  expect(findings).toMatchObject([
    { promotion_code: 'TWO', promotion_id: id, reason: 'Another code of the same promotion already applies.' }
  ])
})

test('a pricing dry run reports usage limits, in total and per customer, and accepts a future time', async () => {
  const { promote, run, redeem } = await useDryRun()
  const [ada, once, mine] = [
    newId(),
    await promote('ONCE', { uses_max: 1 }),
    await promote('MINE', { uses_per_customer: 1 })
  ]
  for (const promotionId of [once, mine]) await redeem(newId(), [{ promotionId }], ada)
  const codesOf = async (body: object) => (await run(body)).findings.map(({ code }: { code: string }) => code)
  const { findings } = await run({ codes: ['once', 'mine'], customer_id: ada })
  expect(findings.map(({ reason }: { reason: string }) => reason)).toEqual([
    'This customer has used it 1 of 1 times (uses_per_customer).',
    'The promotion has reached its usage limit (uses_max).'
  ])
  expect(await codesOf({ codes: ['once', 'mine'], customer_id: ada })).toEqual([
    'CODE_CUSTOMER_LIMIT',
    'CODE_USED_UP'
  ])
  expect(await codesOf({ codes: ['mine'] })).toEqual([])
  await promote('LATER', { starts_at: '2999-01-01' })
  expect(await codesOf({ codes: ['later'], at: '2999-06-01T00:00:00Z' })).toEqual([])
})

test('a pricing dry run with an unknown market or invalid input is rejected', async () => {
  const { admin, run } = await useDryRun()
  expect(await run({ market: 'mars' })).toMatchObject({ code: 'PRICING_MARKET_UNKNOWN', known: ['default'] })
  for (const body of [
    { lines: [] },
    { lines: [{ quantity: 0, price: 1 }] },
    { lines: [{ quantity: 1 }] },
    {}
  ])
    expect((await admin.post(DRY_RUN, body)).status).toBe(400)
})
