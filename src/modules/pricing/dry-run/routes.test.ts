import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { newId } from '../../../kernel/ids.ts'

const PROMOTIONS = '/api/admin/promotions'
const DRY_RUN = `${PROMOTIONS}/dry-run`
const TENTH = { name: 'A tenth off', class: 'line', effect: { type: 'percentage', percentage_ppm: 100_000 } }
const MUG = { quantity: 2, price: 1_000 }

async function useDryRun() {
  const shop = await usePricing()
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

test('a dry run says what a basket would cost, with its components, and takes nothing', async () => {
  const { promote, run, sql } = await useDryRun()
  const id = await promote('TEN', { uses_max: 1 })
  const lines = [MUG, { quantity: 1, price: 500, discounted_price: 400, tax_category: 'books' }]
  const body = { lines, codes: ['ten'], destination: { country: 'CH' }, shipping: 700 }
  const quoted = await run(body)
  expect(quoted).toMatchObject({
    ...{ market: 'default', currency: 'CHF', subtotal: 2_500, discount: 340, shipping: 700 },
    ...{ tax: 250, cash_rounding: 0, total: 3_110, findings: [] },
    lines: [
      { index: 0, subtotal: 2_000, discount: 200, tax: 180, total: 1_800 },
      { index: 1, subtotal: 500, discount: 140, tax: 0, total: 360 }
    ],
    applied: [{ promotion_id: id, code: 'TEN' }]
  })
  expect(quoted.components).toContainEqual({
    ...{ kind: 'discount', line: 0, promotion_id: id, code: 'TEN', rate_ppm: null, tax_category: null },
    ...{ amount: -200, included: false }
  })
  expect(await run(body)).toEqual(quoted)
  expect(await sql('select from pricing.redemptions')).toEqual([])
})

test.each<[string, string, object, object?]>([
  ['is not known', 'CODE_UNKNOWN', {}],
  ['has not started', 'CODE_NOT_STARTED', { starts_at: '2999-01-01' }],
  ['has expired', 'CODE_EXPIRED', { ends_at: '2020-01-01' }],
  ['is for another currency', 'CODE_NOT_IN_MARKET', { minimum: { EUR: 1 } }],
  ['is for other products', 'CODE_NO_MATCHING_LINE', { product_ids: [newId()] }],
  ['is for a first order', 'CODE_FIRST_ORDER_ONLY', { first_order_only: true }, { first_order: false }],
  ['is for other customers', 'CODE_NOT_FOR_CUSTOMER', { customer_group: 'trade' }]
])('a code that %s has a finding that says so', async (_what, code, fields, body = {}) => {
  const { promote, run } = await useDryRun()
  if (code !== 'CODE_UNKNOWN') await promote('TEN', fields)
  const { findings, discount } = await run({ codes: ['ten'], ...body })
  expect(findings).toMatchObject([{ code, promotion_code: 'TEN', message: expect.any(String) }])
  expect(discount).toBe(0)
})

test('a code that lacks something says what, and one that cannot be combined beside what', async () => {
  const { promote, run } = await useDryRun()
  await promote('MORE', { minimum: { CHF: 5_000 }, minimum_quantity: 3 })
  const best = await promote('BEST', { effect: { type: 'percentage', percentage_ppm: 500_000 } })
  await promote('ALSO')
  const { findings } = await run({ codes: ['more', 'best', 'also'] })
  expect(findings).toMatchObject([
    { code: 'CODE_NOT_COMBINABLE', promotion_code: 'ALSO', conflicts_with: [{ id: best, name: 'BEST' }] },
    { code: 'CODE_MINIMUM', promotion_code: 'MORE', missing_amount: 3_000, missing_quantity: 1 }
  ])
})

test('what is used up says so, in all and for one customer, and a moment to come is taken', async () => {
  const { promote, run, db, pricing } = await useDryRun()
  const [ada, once, mine] = [
    newId(),
    await promote('ONCE', { uses_max: 1 }),
    await promote('MINE', { uses_per_customer: 1 })
  ]
  for (const promotionId of [once, mine])
    await db.transaction(tx => pricing.redeem(tx, newId(), [{ promotionId }], ada))
  const codesOf = async (body: object) => (await run(body)).findings.map(({ code }: { code: string }) => code)
  expect(await codesOf({ codes: ['once', 'mine'], customer_id: ada })).toEqual([
    'CODE_CUSTOMER_LIMIT',
    'CODE_USED_UP'
  ])
  expect(await codesOf({ codes: ['mine'] })).toEqual([])
  await promote('LATER', { starts_at: '2999-01-01' })
  expect(await codesOf({ codes: ['later'], at: '2999-06-01T00:00:00Z' })).toEqual([])
})

test('a market that there is not, and a request that makes no sense, are refused', async () => {
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
