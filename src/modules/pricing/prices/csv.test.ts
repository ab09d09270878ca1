import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

async function useFiles() {
  const shop = await usePricing()
  const { id } = (await shop.admin.post('/api/admin/price-lists', { name: 'List', currency: 'EUR' })).json
  const path = `/api/admin/price-lists/${id}`
  const importCsv = (file: string, to = path) =>
    shop.admin.post(`${to}/import`, file, { 'content-type': 'text/csv' })
  const total = async () =>
    (await shop.sql('select count(*)::int as count from pricing.prices where list_id = $1', [id]))[0]?.count
  return { ...shop, id: id as string, path, importCsv, total }
}

test('importing an exported price file changes nothing', async () => {
  const { admin, path, importCsv, pricing, id } = await useFiles()
  const [mug, cup] = [newId(), newId()].sort() as [string, string]
  const file = `variant_id,from_quantity,price\r\n${mug},1,19.90\r\n${mug},10,17.00\r\n${cup},2,0.05\r\n`
  const { status, json } = await importCsv(file)
  expect([status, json]).toEqual([200, { rows: 3 }])
  const exported = await admin.get(`${path}/prices.csv`)
  expect([exported.headers['content-type'], exported.text]).toEqual(['text/csv; charset=utf-8', file])
  expect((await importCsv(exported.text)).json).toEqual({ rows: 3 })
  expect((await admin.get(`${path}/prices.csv`)).text).toBe(file)
  const wanted = [1, 10].map(quantity => ({ variantId: mug, quantity }))
  expect(await pricing.prices(wanted, { priceListId: id })).toEqual([1_990, 1_700])
})

test('an imported price file has columns in any order, a missing quantity means one, and other prices stay', async () => {
  const { admin, path, importCsv, total } = await useFiles()
  const [mug, cup] = [newId(), newId()]
  await importCsv(`variant_id,price\n${cup},5`)
  expect((await importCsv(`Price, Variant_ID ,note\n1,${mug.toUpperCase()},x\n2,${mug},y`)).json.rows).toBe(2)
  expect(await total()).toBe(2)
  expect((await admin.get(`${path}/prices?variant_id=${mug}`)).json.items).toMatchObject([
    { from_quantity: 1, price: 200 }
  ])
})

test('a price file with errors changes nothing, and each error has its row', async () => {
  const { importCsv, total } = await useFiles()
  const mug = newId()
  const file = [
    'variant_id,from_quantity,price',
    `${mug},1,1.00`,
    'mug,1,1.00',
    `${mug},0,1.00`,
    `${mug},2,1.005`,
    `${mug},3,-1`
  ]
  const { status, json } = await importCsv(file.join('\n'))
  expect([status, json.code, json.report.rows, json.report.errors_total]).toEqual([
    ...[400, 'PRICING_IMPORT_FAILED', 5, 4]
  ])
  expect(json.report.errors.map(({ row }: { row: number }) => row)).toEqual([3, 4, 5, 6])
  const messages = json.report.errors.map(({ message }: { message: string }) => message.split(' ')[0])
  expect(messages).toEqual(['variant_id', 'from_quantity', 'price', 'price'])
  expect(await total()).toBe(0)
})

test.each<[string, string, RegExp]>([
  ['an empty file', '', /empty/],
  ['a file without prices', 'variant_id,from_quantity\n', /price/],
  ['a file that is none', 'variant_id,price\n"', /CSV/]
])('the import of prices rejects %s', async (_what, file, words) => {
  const { importCsv } = await useFiles()
  const { status, json } = await importCsv(file)
  expect([status, json.code]).toEqual([400, 'PRICING_IMPORT_FAILED'])
  expect(json.report.errors[0].message).toMatch(words)
})

test('a price import is one transaction: too many prices of a variant reject all rows', async () => {
  const { importCsv, total, record } = await useFiles()
  const rows = Array.from({ length: 2_500 }, () => `${newId()},1,1.00`)
  const mug = newId()
  const tooMany = Array.from({ length: 21 }, (_, index) => `${mug},${index + 1},1.00`)
  const head = 'variant_id,from_quantity,price'
  expect((await importCsv([head, ...rows, ...tooMany].join('\n'))).json.code).toBe('PRICING_BREAK_LIMIT')
  expect(await total()).toBe(0)
  const { result, statements } = await record(() => importCsv([head, ...rows].join('\n')))
  expect(result.json).toEqual({ rows: 2_500 })
  expect(statements.filter(name => name === 'pricing.set_prices')).toHaveLength(3)
  expect(await total()).toBe(2_500)
})

test('an unknown price list cannot be exported as a file', async () => {
  const { admin, importCsv } = await useFiles()
  const unknown = `/api/admin/price-lists/${newId()}`
  for (const { json } of [
    await admin.get(`${unknown}/prices.csv`),
    await importCsv('variant_id,price', unknown)
  ])
    expect(json.code).toBe('PRICING_PRICE_LIST_NOT_FOUND')
})
