import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const CATEGORIES = '/api/admin/taxes/categories'
const ZONES = '/api/admin/taxes/zones'
const RATES = '/api/admin/taxes/rates'
const GERMANY = { name: 'Germany', country: 'DE' }

async function useTaxes(settings: Record<string, string> = {}) {
  const shop = await usePricing({ settings, without: ['taxes/rates', 'taxes/zones'] })
  const { id: zone_id } = (await shop.admin.post(ZONES, GERMANY)).json
  const VAT = { zone_id, category: 'standard', name: 'MwSt.', rate_ppm: 190_000 }
  return { ...shop, zone_id, VAT }
}

test('the tax categories standard and untaxed cannot be deleted, and untaxed accepts no rate', async () => {
  const { admin, VAT } = await useTaxes()
  const { json: first } = await admin.get(`${CATEGORIES}?count=true`)
  expect(first.items.map(({ code }: { code: string }) => code).sort()).toEqual(['standard', 'untaxed'])
  for (const { id } of first.items)
    expect((await admin.delete(`${CATEGORIES}/${id}`)).json.code).toBe('PRICING_TAX_CATEGORY_IN_USE')
  expect((await admin.post(RATES, { ...VAT, category: 'untaxed' })).json).toMatchObject({
    code: 'PRICING_TAX_CATEGORY_UNTAXED',
    status: 400
  })
  const { status, json: books } = await admin.post(CATEGORIES, { code: 'books', name: 'Books' })
  expect([status, books]).toMatchObject([201, { code: 'books', version: 1 }])
  expect((await admin.post(CATEGORIES, { code: 'books', name: 'B' })).json.code).toBe(
    'PRICING_TAX_CATEGORY_TAKEN'
  )
  expect((await admin.post(CATEGORIES, { code: 'Books', name: 'B' })).status).toBe(400)
  const path = `${CATEGORIES}/${books.id}`
  expect((await admin.patch(path, { name: 'x' }, { 'if-match': '"3"' })).json.code).toBe('PRICING_TAX_STALE')
  expect((await admin.patch(path, { name: 'Print' })).json).toMatchObject({ name: 'Print', version: 2 })
  const { json: rate } = await admin.post(RATES, { ...VAT, category: 'books' })
  expect((await admin.delete(path)).json.code).toBe('PRICING_TAX_CATEGORY_IN_USE')
  await admin.delete(`${RATES}/${rate.id}`)
  expect((await admin.delete(path)).status).toBe(204)
  for (const answer of [await admin.get(path), await admin.patch(path, {}), await admin.delete(path)])
    expect(answer.json.code).toBe('PRICING_TAX_CATEGORY_NOT_FOUND')
})

test('postal codes of tax zones are normalized, and empty patterns are rejected', async () => {
  const { admin } = await useTaxes()
  const make = (country: string, postal_pattern: string) =>
    admin.post(ZONES, { name: 'Codes', country, postal_pattern })
  const { json: made } = await make('GB', 'SW1A 1AA')
  expect(made.postal_pattern).toBe('SW1A1AA')
  expect((await make('GB', 'SW1A1AA')).json.code).toBe('PRICING_TAX_ZONE_TAKEN')
  expect((await make('DE', '10000 - 19999')).json.postal_pattern).toBe('10000-19999')
  for (const none of ['19999-10000', '12345678901'])
    expect((await make('DE', none)).json).toMatchObject({
      code: 'PRICING_TAX_PATTERN_INVALID',
      errors: [{ path: 'body/postal_pattern' }]
    })
  const path = `${ZONES}/${made.id}`
  const refused = await admin.patch(path, { country: 'DE', postal_pattern: '20000-10000' })
  expect([refused.status, refused.json.code]).toEqual([400, 'PRICING_TAX_PATTERN_INVALID'])
  expect((await admin.get(path)).json).toEqual(made)
})

test('the region of a tax zone is stored as its code, and an unknown one is rejected', async () => {
  const { admin } = await useTaxes()
  const make = (fields: object) => admin.post(ZONES, { name: 'Sales tax', country: 'US', ...fields })
  const { json: made } = await make({ region: 'us-ca' })
  expect(made.region).toBe('CA')
  for (const region of ['California', 'ca', 'CA'])
    expect((await make({ region })).json.code, region).toBe('PRICING_TAX_ZONE_TAKEN')
  const path = `${ZONES}/${made.id}`
  for (const answer of [
    await make({ region: 'Calif.' }),
    await make({ country: 'DE', region: 'CA' }),
    await admin.patch(path, { region: 'XX' }),
    await admin.patch(path, { country: 'DE' })
  ])
    expect([answer.status, answer.json]).toMatchObject([
      400,
      { code: 'PRICING_TAX_REGION_INVALID', errors: [{ path: 'body/region' }] }
    ])
  expect((await admin.get(path)).json).toEqual(made)
})

test('two tax zones cannot have the same place, and a zone with rates cannot be deleted', async () => {
  const { admin, zone_id, VAT } = await useTaxes()
  const bavaria = { ...GERMANY, name: 'Bavaria', region: 'BY' }
  expect((await admin.post(ZONES, { ...GERMANY, region: null })).json.code).toBe('PRICING_TAX_ZONE_TAKEN')
  const { json: made } = await admin.post(ZONES, bavaria)
  expect(made).toMatchObject({ ...bavaria, postal_pattern: null, version: 1 })
  const path = `${ZONES}/${made.id}`
  expect((await admin.patch(path, { region: null })).json.code).toBe('PRICING_TAX_ZONE_TAKEN')
  expect((await admin.patch(path, { postal_pattern: '80*' }, { 'if-match': '"1"' })).json).toMatchObject({
    region: 'BY',
    postal_pattern: '80*',
    version: 2
  })
  for (const fields of [
    { country: 'de' },
    { region: 'Bavaria' },
    { postal_pattern: '*' },
    { postal_pattern: '8**' }
  ])
    expect((await admin.post(ZONES, { ...GERMANY, ...fields })).status).toBe(400)
  await admin.post(RATES, VAT)
  expect((await admin.delete(`${ZONES}/${zone_id}`)).json.code).toBe('PRICING_TAX_ZONE_IN_USE')
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.get(path)).json.code).toBe('PRICING_TAX_ZONE_NOT_FOUND')
  expect((await admin.get(`${ZONES}?count=true`)).json.total).toBe(1)
})

test('a tax zone has one rate of a category at a time', async () => {
  const { admin, zone_id, VAT } = await useTaxes({ CARTWRIGHT__SHOP__TIME_ZONE: 'Europe/Berlin' })
  const { json: first } = await admin.post(RATES, { ...VAT, ends_at: '2026-12-31' })
  expect(first).toMatchObject({ ...VAT, starts_at: null, ends_at: '2026-12-31T23:00:00.000Z' })
  const overlapping = [{}, { starts_at: '2026-12-31' }, { ends_at: '2020-01-01' }]
  for (const period of overlapping)
    expect((await admin.post(RATES, { ...VAT, ...period })).json.code).toBe('PRICING_TAX_RATE_OVERLAP')
  const { status, json: next } = await admin.post(RATES, {
    ...VAT,
    starts_at: '2027-01-01',
    rate_ppm: 200_000
  })
  expect(status).toBe(201)
  const path = `${RATES}/${next.id}`
  expect((await admin.patch(path, { starts_at: '2026-06-01' })).json.code).toBe('PRICING_TAX_RATE_OVERLAP')
  expect((await admin.patch(path, { ends_at: '2026-01-01' })).json.code).toBe('PRICING_PERIOD_INVALID')
  expect((await admin.patch(path, { ends_at: '2026-02-30' })).json.code).toBe('PRICING_MOMENT_INVALID')
  expect((await admin.patch(path, { rate_ppm: 210_000, ends_at: null })).json).toMatchObject({
    rate_ppm: 210_000,
    starts_at: '2026-12-31T23:00:00.000Z',
    version: 2
  })
  const { json: other } = await admin.post(ZONES, { name: 'Austria', country: 'AT' })
  expect((await admin.post(RATES, { ...VAT, zone_id: other.id })).status).toBe(201)
  expect((await admin.get(`${RATES}?count=true&zone_id=${zone_id}&limit=1`)).json).toMatchObject({
    total: 2,
    items: [{ id: next.id }]
  })
  expect((await admin.get(`${RATES}?count=true`)).json.total).toBe(3)
  expect((await admin.delete(path, undefined, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.get(path)).json.code).toBe('PRICING_TAX_RATE_NOT_FOUND')
})

test('of two simultaneous tax rates for the same zone and time, one is rejected', async () => {
  const { admin, VAT } = await useTaxes()
  const answers = await Promise.all([1, 2, 3, 4].map(() => admin.post(RATES, VAT)))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
})

test('a tax rate needs an existing zone and category', async () => {
  const { admin, VAT } = await useTaxes()
  const codeOf = async (fields: object) => (await admin.post(RATES, { ...VAT, ...fields })).json.code
  expect(await codeOf({ zone_id: newId() })).toBe('PRICING_TAX_ZONE_NOT_FOUND')
  expect(await codeOf({ category: 'books' })).toBe('PRICING_TAX_CATEGORY_NOT_FOUND')
  expect(await codeOf({ rate_ppm: 1_000_001 })).toBe('VALIDATION_FAILED')
  expect((await admin.get(`${RATES}?count=true`)).json.total).toBe(0)
})
