import { expect, test } from 'vitest'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { useEmptyShipping, useShipping } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const ZONES = '/api/admin/shipping/zones'
const SE = { country: 'SE' }

test('shipping zones are listed in pages, read, changed and deleted, and their areas are stored normalized', async () => {
  const { admin } = await useEmptyShipping()
  const created = await admin.post(ZONES, {
    name: 'Nearby',
    areas: [
      SE,
      { country: 'GB', postal_code: 'sw1a' },
      { country: 'US', region: 'California', postal_code: '90*' }
    ]
  })
  expect([created.status, created.json]).toMatchObject([
    201,
    {
      name: 'Nearby',
      version: 1,
      areas: [
        { country: 'SE', region: null, postal_code: null },
        { country: 'GB', region: null, postal_code: 'SW1A' },
        { country: 'US', region: 'CA', postal_code: '90*' }
      ]
    }
  ])
  await admin.post(ZONES, { name: 'World', areas: [{ country: '*' }] })
  const first = (await admin.get(`${ZONES}?count=true&limit=1`)).json
  expect([first.total, first.items[0].name]).toEqual([2, 'World'])
  const second = (await admin.get(`${ZONES}?limit=1&cursor=${first.next_cursor}`)).json
  expect([second.items[0].name, second.next_cursor]).toEqual(['Nearby', null])
  const path = `${ZONES}/${created.json.id}`
  expect((await admin.get(path)).json).toEqual(created.json)
  const changed = await admin.patch(path, { name: 'Sweden', areas: [SE] }, { 'if-match': '"1"' })
  expect([changed.status, changed.headers.etag, changed.json.areas.length]).toEqual([200, '"2"', 1])
  expect((await admin.patch(path, {}, { 'if-match': '"2"' })).json.version).toBe(2)
  const stale = await admin.delete(path, undefined, { 'if-match': '"1"' })
  expect([stale.status, stale.json.code]).toEqual([412, 'SHIPPING_ZONE_STALE'])
  expect((await admin.delete(path)).status).toBe(204)
  expect((await admin.get(path)).json.code).toBe('SHIPPING_ZONE_NOT_FOUND')
  expect((await admin.patch(`${ZONES}/${newId()}`, { name: 'x' })).json.code).toBe('SHIPPING_ZONE_NOT_FOUND')
})

test('a shipping zone with invalid areas is rejected, and the response names the field', async () => {
  const { admin } = await useEmptyShipping()
  const refused = await admin.post(ZONES, {
    name: 'Odd',
    areas: [
      SE,
      { country: 'DE', postal_code: '2-1' },
      { country: '*', region: 'CA' },
      { country: 'DE', postal_code: '1**' },
      { country: 'DE', region: 'Bavaria', postal_code: '80*' }
    ]
  })
  expect([refused.status, refused.json.code]).toEqual([400, 'SHIPPING_AREAS_INVALID'])
  expect(refused.json.errors.map(({ path }: { path: string }) => path)).toEqual([
    'body/areas/2/region',
    'body/areas/3/postal_code',
    'body/areas/4/region'
  ])
  const unknown = await admin.post(ZONES, { name: 'Odd', areas: [{ country: 'ZZ' }] })
  expect([unknown.json.code, unknown.json.errors[0].path]).toEqual([
    'VALIDATION_FAILED',
    'body/areas/0/country'
  ])
  expect((await admin.post(ZONES, { name: 'Nowhere', areas: [] })).status).toBe(400)
  expect((await admin.get(`${ZONES}?count=true`)).json.total).toBe(0)
})

test("a shipping zone with an area as specific as another zone's is rejected, and a more specific one is accepted", async () => {
  const { admin } = await useEmptyShipping()
  await admin.post(ZONES, { name: 'Sweden', areas: [SE] })
  const { json: south } = await admin.post(ZONES, {
    name: 'South',
    areas: [{ country: 'SE', postal_code: '20000-29999' }]
  })
  const refused = await admin.post(ZONES, {
    name: 'Other',
    areas: [{ country: 'NO' }, { country: 'SE', postal_code: '2*' }]
  })
  expect([refused.status, refused.json.code, refused.json.errors]).toEqual([
    409,
    'SHIPPING_ZONE_AMBIGUOUS',
    [{ path: 'body/areas/1', message: 'is as specific as an area of the zone South' }]
  ])
  expect((await admin.patch(`${ZONES}/${south.id}`, { areas: [SE] })).json.code).toBe(
    'SHIPPING_ZONE_AMBIGUOUS'
  )
  expect((await admin.patch(`${ZONES}/${south.id}`, { areas: south.areas })).status).toBe(200)
  const malmo = { name: 'Malmö', areas: [{ country: 'SE', postal_code: '211*' }] }
  expect((await admin.post(ZONES, malmo)).status).toBe(201)
})

test('of two concurrent requests that create the same shipping zone, one is rejected', async () => {
  const { admin } = await useEmptyShipping()
  const names = Array.from({ length: 8 }, (_, index) => `Zone ${index}`)
  const answers = await Promise.all(names.map(name => admin.post(ZONES, { name, areas: [SE] })))
  expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
})

test('the number of shipping zones is limited to a hundred', async () => {
  needsOwnShop()
  const { admin, sql } = await useShipping()
  await admin.post(ZONES, { name: 'Sweden', areas: [SE] })
  await sql(`insert into shipping.zones (id, name, areas)
    select gen_random_uuid(), 'z', '[]' from generate_series(1, 99)`)
  const { status, json } = await admin.post(ZONES, { name: 'Norway', areas: [{ country: 'NO' }] })
  expect([status, json.code, json.limit]).toEqual([409, 'SHIPPING_RULES_LIMIT', 100])
})
