import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { readCsvRecords } from '../../../platform/csv/records.ts'

shareShops()

async function useCodes() {
  const shop = await usePricing()
  const promotion = {
    name: 'A tenth off',
    class: 'line',
    needs_code: true,
    effect: { type: 'percentage', percentage_ppm: 100_000 }
  }
  const create = async () =>
    `/api/admin/promotions/${(await shop.admin.post('/api/admin/promotions', promotion)).json.id}`
  return { ...shop, create, codes: `${await create()}/codes` }
}

test('a promotion code is normalized, unique, and can be deactivated', async () => {
  const { admin, codes, create } = await useCodes()
  const { status, json: made } = await admin.post(codes, { code: 'ｓummer-26', uses_max: 3 })
  expect([status, made]).toMatchObject([
    201,
    { code: 'SUMMER-26', uses_max: 3, uses_left: 3, active: true, batch_id: null }
  ])
  for (const path of [codes, `${await create()}/codes`])
    expect((await admin.post(path, { code: 'Summer-26' })).json.code).toBe('PRICING_CODE_TAKEN')
  expect((await admin.patch(`${codes}/${made.id}`, { active: false, uses_max: null })).json).toMatchObject({
    active: false,
    uses_max: null,
    uses_left: null
  })
  expect((await admin.patch(`${codes}/${newId()}`, { active: false })).json.code).toBe(
    'PRICING_CODE_NOT_FOUND'
  )
  expect((await admin.patch(`${await create()}/codes/${made.id}`, {})).json.code).toBe(
    'PRICING_CODE_NOT_FOUND'
  )
  for (const code of ['', 'two words', 'x'.repeat(65)])
    expect((await admin.post(codes, { code })).status).toBe(400)
  const { json } = await admin.get(`${codes}?count=true`)
  expect([json.total, json.items[0].code]).toEqual([1, 'SUMMER-26'])
})

test('10,000 distinct promotion codes are created once per request and exported', async () => {
  const { admin, codes } = await useCodes()
  await admin.post(codes, { code: 'BY-NAME' })
  const batch = { count: 10_000, prefix: 'vip-', length: 8 }
  const draw = () => admin.post(`${codes}/batches`, batch, { 'idempotency-key': 'one-batch-of-codes' })
  const [first, second] = [await draw(), await draw()]
  expect([first.status, second.json]).toEqual([201, first.json])
  expect(first.json.count).toBe(10_000)
  const { json } = await admin.get(`${codes}?count=true&limit=2&batch_id=${first.json.batch_id}`)
  expect([json.total, json.total_is_more, json.items[0]]).toMatchObject([
    1_000,
    true,
    { uses_max: 1, batch_id: first.json.batch_id }
  ])

  const { headers, text } = await admin.get(`${codes}.csv`)
  expect(headers['content-type']).toBe('text/csv; charset=utf-8')
  const records = await Array.fromAsync(readCsvRecords(Readable.from([Buffer.from(text)])))
  const [head, ...rows] = records.map(({ cells }) => cells)
  expect(head).toEqual(['code', 'active', 'uses_max', 'uses_left', 'batch_id'])
  expect(rows.at(-1)).toEqual(['BY-NAME', 'true', '', '', ''])
  const drawn = new Set(rows.slice(0, -1).map(([code]) => code))
  expect(drawn.size).toBe(10_000)
  for (const code of drawn) expect(code).toMatch(/^VIP-[A-HJKMNP-TV-Z2-9]{8}$/)
})

test.each([{ count: 0 }, { count: 10_001 }, { count: 1, length: 7 }, { count: 1, prefix: 'a b' }])(
  'a batch of promotion codes with %j is rejected',
  async body => {
    const { admin, codes } = await useCodes()
    expect((await admin.post(`${codes}/batches`, body)).status).toBe(400)
  }
)

test('an unknown promotion has no codes', async () => {
  const { admin } = await useCodes()
  const codes = `/api/admin/promotions/${newId()}/codes`
  const answers = [
    await admin.get(codes),
    await admin.get(`${codes}.csv`),
    await admin.post(codes, { code: 'X' }),
    await admin.post(`${codes}/batches`, { count: 1 })
  ]
  for (const { json } of answers) expect(json.code).toBe('PRICING_PROMOTION_NOT_FOUND')
})
