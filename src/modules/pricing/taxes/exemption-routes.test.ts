import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const EXEMPTIONS = '/api/admin/taxes/exemptions'
const ACME = { company: 'Acme GmbH', vat_id: 'DE136695976', reason: 'Reverse charge' }

async function useExemptions(settings: Record<string, string> = {}) {
  const shop = await usePricing({ settings, without: ['taxes/exemptions'] })
  const made = async (fields: object = {}) =>
    (await shop.admin.post(EXEMPTIONS, { customer_id: newId(), ...ACME, ...fields })).json
  return { ...shop, made }
}

test('an administrator creates, updates and deletes a tax exemption', async () => {
  const { admin } = await useExemptions({ CARTWRIGHT__SHOP__TIME_ZONE: 'Europe/Berlin' })
  const customer_id = newId()
  const body = {
    customer_id,
    ...ACME,
    countries: ['FR', 'AT'],
    starts_at: '2026-01-01',
    ends_at: '2026-12-31'
  }
  const { status, json } = await admin.post(EXEMPTIONS, body)
  expect([status, json]).toEqual([
    201,
    {
      id: expect.any(String),
      customer_id,
      ...ACME,
      countries: ['FR', 'AT'],
      starts_at: '2025-12-31T23:00:00.000Z',
      ends_at: '2026-12-31T23:00:00.000Z',
      version: 1,
      created_at: expect.any(String)
    }
  ])
  const path = `${EXEMPTIONS}/${json.id}`
  expect((await admin.get(path)).json).toEqual(json)
  const stale = await admin.patch(path, { company: 'B' }, { 'if-match': '"2"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'PRICING_TAX_STALE'])
  const changed = await admin.patch(path, { company: 'Acme SE', countries: null }, { 'if-match': '"1"' })
  expect(changed.json).toEqual({ ...json, company: 'Acme SE', countries: null, version: 2 })
  expect((await admin.patch(path, { vat_id: null, ends_at: null })).json).toEqual({
    ...changed.json,
    vat_id: null,
    ends_at: null,
    version: 3
  })
  expect((await admin.patch(path, {})).json.version).toBe(3)
  expect((await admin.delete(path, undefined, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.delete(path)).status).toBe(204)
  for (const answer of [await admin.get(path), await admin.patch(path, {}), await admin.delete(path)])
    expect([answer.status, answer.json.code]).toEqual([404, 'PRICING_TAX_EXEMPTION_NOT_FOUND'])
})

test('tax exemptions are listed newest first, of all customers or one', async () => {
  const { admin, made } = await useExemptions()
  const ada = newId()
  const [first, other, last] = [
    await made({ customer_id: ada }),
    await made(),
    await made({ customer_id: ada })
  ]
  const list = async (query: string) => (await admin.get(`${EXEMPTIONS}?count=true&${query}`)).json
  const page = await list('limit=2')
  expect(page).toMatchObject({ total: 3, items: [last, other] })
  expect((await list(`cursor=${page.next_cursor}`)).items).toEqual([first])
  expect(await list(`customer_id=${ada}`)).toMatchObject({
    total: 2,
    items: [last, first],
    next_cursor: null
  })
  expect(await list(`customer_id=${newId()}`)).toMatchObject({ total: 0, items: [] })
  const crossed = await admin.get(`${EXEMPTIONS}?customer_id=${ada}&cursor=${page.next_cursor}`)
  expect(crossed.json.code).toBe('INVALID_CURSOR')
})

test('invalid tax exemptions are rejected with the field, and nothing is stored', async () => {
  const { admin, made } = await useExemptions()
  const kept = await made()
  const wrong: [object, string][] = [
    [{ vat_id: 'DE136695977' }, 'body/vat_id'],
    [{ vat_id: '136695976' }, 'body/vat_id'],
    [{ countries: [] }, 'body/countries'],
    [{ countries: ['DE', 'DE'] }, 'body/countries'],
    [{ countries: ['XX'] }, 'body/countries/0'],
    [{ starts_at: '2026-02-30' }, 'body/starts_at'],
    [{ starts_at: '2026-02-02', ends_at: '2026-02-01' }, 'body/ends_at'],
    [{ company: '' }, 'body/company'],
    [{ reason: null }, 'body/reason']
  ]
  for (const [fields, path] of wrong) {
    for (const answer of [
      await admin.post(EXEMPTIONS, { customer_id: newId(), ...ACME, ...fields }),
      await admin.patch(`${EXEMPTIONS}/${kept.id}`, fields)
    ]) {
      expect([answer.status, answer.json.errors?.[0]?.path], JSON.stringify(fields)).toEqual([400, path])
    }
  }
  expect((await admin.patch(`${EXEMPTIONS}/${kept.id}`, { customer_id: newId() })).status).toBe(400)
  expect((await admin.post(EXEMPTIONS, ACME)).status).toBe(400)
  expect((await admin.get(`${EXEMPTIONS}?count=true`)).json).toMatchObject({ total: 1, items: [kept] })
})

test('VAT ids are stored as invoices show them; those of unknown countries are stored unchanged', async () => {
  const { made } = await useExemptions()
  const keptAs = async (vat_id: string) => (await made({ vat_id })).vat_id
  expect(await keptAs(' de 136.695-976')).toBe('DE136695976')
  expect(await keptAs('GR 094259216')).toBe('EL094259216')
  expect(await keptAs('JP T1234567890123')).toBe('JPT1234567890123')
})

test('tax exemptions beyond the cache limit are rejected', async () => {
  needsOwnShop()
  const { admin, sql } = await useExemptions()
  await sql(
    `insert into pricing.exemptions (id, customer_id, company, reason)
     select gen_random_uuid(), gen_random_uuid(), 'Acme', 'Export' from generate_series(1, 19999)`
  )
  const make = () => admin.post(EXEMPTIONS, { customer_id: newId(), ...ACME })
  expect((await make()).status).toBe(201)
  const refused = await make()
  expect([refused.status, refused.json]).toMatchObject([409, { code: 'PRICING_TAX_LIMIT', limit: 20_000 }])
  expect(await sql('select count(*)::int as count from pricing.exemptions')).toEqual([{ count: 20_000 }])
})
