import { expect, test } from 'vitest'
import { useShipping } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'

const METHODS = '/api/admin/shipping/methods'
const POST = { kind: 'shipping', provider: 'Post', service: 'Standard' }

test('shipping methods are created in last position, listed in order, changed and deleted', async () => {
  const { admin } = await useShipping()
  const created = await admin.post(METHODS, {
    ...POST,
    estimated_days: { min: 2, max: 4 },
    tax_category: 'freight'
  })
  expect([created.status, created.json]).toMatchObject([
    201,
    {
      ...POST,
      estimated_days: { min: 2, max: 4 },
      tax_category: 'freight',
      active: true,
      position: 1,
      version: 1
    }
  ])
  const { json: pickup } = await admin.post(METHODS, { kind: 'pickup', service: 'Pick up' })
  expect(pickup).toMatchObject({ position: 2, provider: null, estimated_days: null, tax_category: null })
  const path = `${METHODS}/${created.json.id}`
  expect((await admin.get(path)).json).toEqual(created.json)
  const changed = await admin.patch(path, { position: 3, estimated_days: null }, { 'if-match': '"1"' })
  expect([changed.status, changed.headers.etag]).toEqual([200, '"2"'])
  expect(changed.json).toMatchObject({ service: 'Standard', position: 3, estimated_days: null })
  const first = (await admin.get(`${METHODS}?count=true&limit=1`)).json
  expect([first.total, first.items[0].id]).toEqual([2, pickup.id])
  const second = (await admin.get(`${METHODS}?limit=1&cursor=${first.next_cursor}`)).json
  expect([second.items[0].id, second.next_cursor]).toEqual([created.json.id, null])
  const stale = await admin.patch(path, { active: false }, { 'if-match': '"1"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'SHIPPING_METHOD_STALE'])
  expect((await admin.delete(path, undefined, { 'if-match': '"2"' })).status).toBe(204)
  expect((await admin.get(path)).json.code).toBe('SHIPPING_METHOD_NOT_FOUND')
  expect((await admin.delete(`${METHODS}/${newId()}`)).json.code).toBe('SHIPPING_METHOD_NOT_FOUND')
})

test('a shipping method whose maximum days are below the minimum is rejected, and nothing is written', async () => {
  const { admin, made } = await useShipping()
  const days = { estimated_days: { min: 5, max: 2 } }
  const refused = await admin.post(METHODS, { ...POST, ...days })
  expect([refused.status, refused.json.code, refused.json.errors[0].path]).toEqual([
    400,
    'SHIPPING_DAYS_INVALID',
    'body/estimated_days/max'
  ])
  const { id } = await made('methods', POST)
  expect((await admin.patch(`${METHODS}/${id}`, { service: 'Other', ...days })).status).toBe(400)
  expect((await admin.get(`${METHODS}/${id}`)).json).toMatchObject({ service: 'Standard', version: 1 })
  expect((await admin.patch(`${METHODS}/${id}`, { kind: 'pickup' })).json.code).toBe('VALIDATION_FAILED')
})

test('the number of shipping methods is limited to a hundred', async () => {
  const { admin, sql } = await useShipping()
  await sql(`insert into shipping.methods (id, kind, service, active, position)
    select gen_random_uuid(), 'shipping', 'S', true, n from generate_series(1, 100) as n`)
  const { status, json } = await admin.post(METHODS, POST)
  expect([status, json.code, json.limit]).toEqual([409, 'SHIPPING_RULES_LIMIT', 100])
})
