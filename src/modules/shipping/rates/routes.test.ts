import { expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { useEmptyShipping } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const RATES = '/api/admin/shipping/rates'
const byWeight = (...bounds: (number | null)[]) => ({
  by: 'weight',
  steps: bounds.map((up_to, index) => ({ up_to, amount: (index + 1) * 500 }))
})

async function useRates() {
  const shop = await useEmptyShipping()
  const zone = await shop.made('zones', { name: 'Sweden', areas: [{ country: 'SE' }] })
  const method = await shop.made('methods', { kind: 'shipping', service: 'Standard' })
  const place = { method_id: method.id, zone_id: zone.id }
  return { ...shop, zone, method, place }
}

test('a shipping rate is an amount or a table, in the currency of the shop by default', async () => {
  const { admin, place } = await useRates()
  const flat = await admin.post(RATES, { ...place, amount: 490, free_from: 10_000 })
  expect([flat.status, flat.json]).toMatchObject([
    201,
    { ...place, currency: 'USD', amount: 490, table: null, free_from: 10_000, version: 1 }
  ])
  const table = byWeight(1_000, null)
  const euros = await admin.post(RATES, { ...place, currency: 'EUR', table })
  expect([euros.status, euros.json]).toMatchObject([
    201,
    { currency: 'EUR', amount: null, table, free_from: null }
  ])
  const path = `${RATES}/${flat.json.id}`
  expect((await admin.get(path)).json).toEqual(flat.json)
  const changed = await admin.patch(path, { table }, { 'if-match': '"1"' })
  expect([changed.headers.etag, changed.json]).toMatchObject([
    '"2"',
    { amount: null, table, free_from: 10_000 }
  ])
  const back = await admin.patch(path, { amount: 0, free_from: null })
  expect(back.json).toMatchObject({ amount: 0, table: null, free_from: null })
  expect((await admin.patch(path, { amount: 1, table })).json.code).toBe('VALIDATION_FAILED')
  expect((await admin.patch(path, { amount: 1 }, { 'if-match': '"1"' })).json.code).toBe(
    'SHIPPING_RATE_STALE'
  )
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.get(path)).json.code).toBe('SHIPPING_RATE_NOT_FOUND')
})

test('shipping rates are listed in pages, also by method or zone', async () => {
  const { admin, made, place, zone } = await useRates()
  const other = await made('methods', { kind: 'shipping', service: 'Express' })
  await made('rates', { ...place, amount: 1 })
  await made('rates', { ...place, method_id: other.id, amount: 2 })
  const first = (await admin.get(`${RATES}?count=true&limit=1&zone_id=${zone.id}`)).json
  expect([first.total, first.items[0].amount]).toEqual([2, 2])
  const second = (await admin.get(`${RATES}?limit=1&zone_id=${zone.id}&cursor=${first.next_cursor}`)).json
  expect([second.items[0].amount, second.next_cursor]).toEqual([1, null])
  const ofOther = (await admin.get(`${RATES}?method_id=${other.id}&count=true`)).json
  expect([ofOther.total, ofOther.items[0].amount]).toEqual([1, 2])
  expect((await admin.get(`${RATES}?zone_id=${newId()}`)).json.items).toEqual([])
})

test.each([
  [byWeight(1_000, 1_000), ['body/table/steps/1/up_to']],
  [byWeight(1_000, 500, 2_000), ['body/table/steps/1/up_to']],
  [byWeight(null, 1_000), ['body/table/steps/0/up_to']]
])('a shipping rate table of %j is rejected', async (table, paths) => {
  const { admin, place } = await useRates()
  const refused = await admin.post(RATES, { ...place, table })
  expect([refused.status, refused.json.code]).toEqual([400, 'SHIPPING_TABLE_INVALID'])
  expect(refused.json.errors.map(({ path }: { path: string }) => path)).toEqual(paths)
  expect((await admin.get(`${RATES}?count=true`)).json.total).toBe(0)
})

test('a rate for shipping needs a zone, pickup and digital rates have none, and a duplicate rate is rejected', async () => {
  const { admin, made, place, zone } = await useRates()
  const pickup = await made('methods', { kind: 'pickup', service: 'Pick up' })
  const codeOf = async (body: object) => (await admin.post(RATES, { amount: 1, ...body })).json.code
  expect(await codeOf({ method_id: place.method_id })).toBe('SHIPPING_RATE_PLACE')
  expect(await codeOf({ method_id: pickup.id, zone_id: zone.id })).toBe('SHIPPING_RATE_PLACE')
  expect(await codeOf({ ...place, zone_id: newId() })).toBe('SHIPPING_ZONE_NOT_FOUND')
  expect(await codeOf({ ...place, method_id: newId() })).toBe('SHIPPING_METHOD_NOT_FOUND')
  await made('rates', { ...place, amount: 1 })
  expect(await codeOf(place)).toBe('SHIPPING_RATE_TAKEN')
  await made('rates', { method_id: pickup.id, amount: 0 })
  expect(await codeOf({ method_id: pickup.id })).toBe('SHIPPING_RATE_TAKEN')
})

test('deleting a shipping method or a zone deletes its rates', async () => {
  const { admin, made, place, zone } = await useRates()
  await made('rates', { ...place, amount: 1 })
  await admin.delete(`/api/admin/shipping/zones/${zone.id}`)
  expect((await admin.get(`${RATES}?count=true`)).json.total).toBe(0)
  const pickup = await made('methods', { kind: 'pickup', service: 'Pick up' })
  await made('rates', { method_id: pickup.id, amount: 0 })
  await admin.delete(`/api/admin/shipping/methods/${pickup.id}`)
  expect((await admin.get(`${RATES}?count=true`)).json.total).toBe(0)
})
