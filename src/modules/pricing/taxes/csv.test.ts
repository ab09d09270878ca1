import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'

shareShops()

const RATES = '/api/admin/taxes/rates'
const HEAD = 'country,region,postal_pattern,category,rate_ppm,name,starts_at,ends_at'

async function useFiles() {
  const settings = { CARTWRIGHT__SHOP__TIME_ZONE: 'Europe/Berlin' }
  const shop = await usePricing({ settings, without: ['taxes/rates', 'taxes/zones'] })
  const importCsv = (...lines: string[]) =>
    shop.admin.post(`${RATES}/import`, [HEAD, ...lines].join('\n'), { 'content-type': 'text/csv' })
  const listed = async () => (await shop.admin.get(`${RATES}.csv`)).text.trim().split('\r\n').slice(1).sort()
  return { ...shop, importCsv, listed }
}

test('a tax file import creates rates and zones, and importing an export changes nothing', async () => {
  const { admin, importCsv, listed, sql } = await useFiles()
  const { json } = await importCsv(
    'DE,,,standard,190000,MwSt.,,2026-12-31',
    'DE,,,standard,200000,MwSt.,2027-01-01,',
    'DE,BY,80*,standard,0,None,,'
  )
  expect(json).toEqual({ rows: 3 })
  const rates = [
    'DE,,,standard,190000,MwSt.,,2026-12-31T23:00:00.000Z',
    'DE,,,standard,200000,MwSt.,2026-12-31T23:00:00.000Z,',
    'DE,BY,80*,standard,0,None,,'
  ]
  expect(await listed()).toEqual(rates)
  expect((await admin.get('/api/admin/taxes/zones?count=true')).json.total).toBe(2)
  expect((await importCsv(...rates)).json).toEqual({ rows: 3 })
  expect(await listed()).toEqual(rates)
  expect(await sql('select distinct version from pricing.tax_rates')).toEqual([{ version: 1 }])
})

test('a row of a tax file can end the rate with the same start, so that another row begins the next rate', async () => {
  const { importCsv, listed } = await useFiles()
  await importCsv('DE,,,standard,190000,MwSt.,,')
  expect((await importCsv('DE,,,standard,210000,VAT,2027-01-01,')).json.code).toBe('PRICING_TAX_RATE_OVERLAP')
  await importCsv('DE,,,standard,210000,VAT,2027-01-01,', 'DE,,,standard,190000,MwSt.,,2026-12-31')
  expect(await listed()).toEqual([
    'DE,,,standard,190000,MwSt.,,2026-12-31T23:00:00.000Z',
    'DE,,,standard,210000,VAT,2026-12-31T23:00:00.000Z,'
  ])
})

test('regions of a tax file are read by code or name, and rows of one region share a zone', async () => {
  const { importCsv, listed } = await useFiles()
  const { json } = await importCsv(
    'US,California,,standard,72500,Tax,,2026-12-31',
    'US,us-ca,,standard,75000,Tax,2027-01-01,'
  )
  expect(json).toEqual({ rows: 2 })
  const regions = (await listed()).map((line: string) => line.split(',')[1])
  expect(regions).toEqual(['CA', 'CA'])
  expect((await importCsv('US,Calif.,,standard,1,x,,')).text).toContain(
    'region must be a region of the country'
  )
})

test.each<[string, string, string]>([
  ['an unknown category', 'PRICING_TAX_CATEGORY_NOT_FOUND', 'AT,,,books,1,x,,'],
  [
    'a period that ends before it starts',
    'PRICING_PERIOD_INVALID',
    'AT,,,standard,1,x,2026-02-02,2026-02-01'
  ],
  ['a country that is none', 'PRICING_IMPORT_FAILED', 'Austria,,,standard,1,x,,'],
  ['a region that is none', 'PRICING_IMPORT_FAILED', 'AT,Tyrol,,standard,1,x,,'],
  ['a postal code that is none', 'PRICING_IMPORT_FAILED', 'AT,,*,standard,1,x,,'],
  ['a range that ends before it starts', 'PRICING_IMPORT_FAILED', 'AT,,2000-1000,standard,1,x,,'],
  ['a rate beyond everything', 'PRICING_IMPORT_FAILED', 'AT,,,standard,1000001,x,,'],
  ['a rate that is no number', 'PRICING_IMPORT_FAILED', 'AT,,,standard,19 %,x,,'],
  ['no name', 'PRICING_IMPORT_FAILED', 'AT,,,standard,1,,,'],
  ['a day that there is not', 'PRICING_IMPORT_FAILED', 'AT,,,standard,1,x,2026-02-30,'],
  ['a time that is none', 'PRICING_IMPORT_FAILED', 'AT,,,standard,1,x,soon,']
])('a tax file with %s changes nothing', async (_what, code, line) => {
  const { admin, importCsv, listed } = await useFiles()
  const { json } = await importCsv('DE,,,standard,190000,MwSt.,,', line)
  expect(json.code).toBe(code)
  expect(await listed()).toEqual([])
  expect((await admin.get('/api/admin/taxes/zones?count=true')).json.total).toBe(0)
})
