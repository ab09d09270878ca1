import { expect, test } from 'vitest'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { useEmptyShipping, useShipping } from '../../../../test/support/shipping.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

type Shop = Awaited<ReturnType<typeof useEmptyShipping>>
const TO_SWEDEN = { destination: { country: 'SE' } }
const PARCEL = { weight_grams: 500, value: 2_000 }

/** Shipping to Sweden by weight, up to 5 kg and free from 100.00; pickup; digital delivery. */
async function usePost(shop: Shop) {
  const { made } = shop
  const zone = await made('zones', { name: 'Sweden', areas: [{ country: 'SE' }] })
  const post = await made('methods', {
    kind: 'shipping',
    provider: 'Post',
    service: 'Standard',
    estimated_days: { min: 2, max: 4 }
  })
  const steps = [
    { up_to: 1_000, amount: 490 },
    { up_to: 5_000, amount: 990 }
  ]
  const table = { by: 'weight', steps }
  const rate = await made('rates', { method_id: post.id, zone_id: zone.id, table, free_from: 10_000 })
  const pickup = await made('methods', { kind: 'pickup', service: 'In the shop' })
  await made('rates', { method_id: pickup.id, amount: 100 })
  const digital = await made('methods', { kind: 'digital', service: 'By e-mail' })
  await made('rates', { method_id: digital.id, amount: 0 })
  return { zone, post, rate }
}
const shownIn = ({ json }: Awaited<ReturnType<Shop['ask']>>) =>
  json.rates.map(({ service, amount }: { service: string; amount: number }) => [service, amount])

test('a shop without shipping methods has no shipping options', async () => {
  const { ask } = await useEmptyShipping()
  const { status, json } = await ask({ ...TO_SWEDEN, ...PARCEL })
  expect([status, json]).toEqual([200, { rates: [] }])
})

test('an anonymous caller gets the shipping options for a weight and a value, cheapest first', async () => {
  const shop = await useEmptyShipping()
  const { post } = await usePost(shop)
  const { status, json } = await shop.ask({ ...TO_SWEDEN, ...PARCEL })
  expect([status, json]).toEqual([
    200,
    {
      rates: [
        {
          id: expect.any(String),
          method: 'pickup',
          provider: null,
          service: 'In the shop',
          amount: 100,
          currency: 'USD',
          estimated_days: null
        },
        {
          id: expect.any(String),
          method: 'shipping',
          provider: 'Post',
          service: 'Standard',
          amount: 490,
          currency: 'USD',
          estimated_days: { min: 2, max: 4 }
        }
      ]
    }
  ])
  expect(shownIn(await shop.ask({ ...TO_SWEDEN, weight_grams: 5_001, value: 0 }))).toEqual([
    ['In the shop', 100]
  ])
  expect(shownIn(await shop.ask({ ...TO_SWEDEN, weight_grams: 500, value: 10_000 }))[0]).toEqual([
    'Standard',
    0
  ])
  await shop.admin.patch(`/api/admin/shipping/methods/${post.id}`, { active: false })
  expect(shownIn(await shop.ask({ ...TO_SWEDEN, ...PARCEL }))).toEqual([['In the shop', 100]])
})

test('for shipping rates, weights and values of variants are those of the catalog, after discounts', async () => {
  const shop = await useEmptyShipping()
  await usePost(shop)
  const jug = shop.catalog.sell({ price: 6_000, discountedPrice: 5_000, weightGrams: 400 })
  const cup = shop.catalog.sell({ price: 1, weightGrams: 201 })
  const amount = async (...items: [string, number][]) => {
    const lines = items.map(([variant_id, quantity]) => ({ variant_id, quantity }))
    return shownIn(await shop.ask({ ...TO_SWEDEN, items: lines })).find(
      ([name]: [string]) => name === 'Standard'
    )?.[1]
  }
  expect(await amount([jug, 1])).toBe(490)
  expect(await amount([jug, 2])).toBe(0)
  expect(await amount([jug, 1], [cup, 3])).toBe(990)
  expect(await amount([cup, 2], [cup, 3])).toBe(990)
  expect(await amount([cup, 1_000_000])).toBeUndefined()
})

test('items that require no shipping weigh nothing, and alone get digital shipping options', async () => {
  const shop = await useEmptyShipping()
  await usePost(shop)
  const book = shop.catalog.sell({ price: 20_000, weightGrams: 4_000, requiresShipping: false })
  const mug = shop.catalog.sell({ weightGrams: 300 })
  const items = [{ variant_id: book, quantity: 3 }]
  expect(shownIn(await shop.ask({ ...TO_SWEDEN, items }))).toEqual([['By e-mail', 0]])
  const both = [...items, { variant_id: mug, quantity: 1 }]
  expect(shownIn(await shop.ask({ ...TO_SWEDEN, items: both }))).toEqual([
    ['In the shop', 100],
    ['Standard', 490]
  ])
})

test('shipping options for unknown and unsold variants are rejected', async () => {
  const { catalog, ask } = await useEmptyShipping()
  const mug = catalog.sell()
  const gone = catalog.sell()
  catalog.withdraw(gone)
  const request = async (variant_id: string) =>
    ask({ ...TO_SWEDEN, items: [mug, variant_id].map(id => ({ variant_id: id, quantity: 1 })) })
  const unknown = await request(newId())
  expect([unknown.status, unknown.json.code]).toEqual([404, 'CATALOG_VARIANT_NOT_FOUND'])
  const unavailable = await request(gone)
  expect([unavailable.status, unavailable.json]).toMatchObject([
    409,
    { code: 'SHIPPING_VARIANT_UNAVAILABLE', variant_id: gone }
  ])
})

test.each([
  [{ ...PARCEL, destination: { country: 'ZZ' } }, 'body/destination/country'],
  [{ ...PARCEL, destination: {} }, 'body/destination/country'],
  [{ ...TO_SWEDEN, weight_grams: -1, value: 0 }, 'body/weight_grams'],
  [{ ...TO_SWEDEN, items: [] }, 'body/items'],
  [{ ...TO_SWEDEN, items: [{ variant_id: newId(), quantity: 0 }] }, 'body/items/0/quantity'],
  [{ ...TO_SWEDEN, items: Array(201).fill({ variant_id: newId(), quantity: 1 }) }, 'body/items']
])('the request %j for shipping options is rejected for the field %s', async (body, path) => {
  const { ask } = await useEmptyShipping()
  const { status, json } = await ask(body)
  expect([status, json.errors?.[0].path]).toEqual([400, path])
})

test('any spelling of a region has the same shipping cost, and an unknown region is rejected where rates depend on it', async () => {
  const shop = await useEmptyShipping()
  const { post } = await usePost(shop)
  const zone = await shop.made('zones', { name: 'West', areas: [{ country: 'US', region: 'CA' }] })
  await shop.made('rates', { method_id: post.id, zone_id: zone.id, amount: 700 })
  const to = (country: string, region?: string) => shop.ask({ destination: { country, region }, ...PARCEL })
  const first = (await to('US', 'CA')).json
  expect(first.rates[1].amount).toBe(700)
  for (const region of ['ca', 'US-CA', 'California', '\uff23\uff21'])
    expect((await to('US', region)).json, region).toEqual(first)
  // Without a region, zones of regions do not match.
  expect(shownIn(await to('US'))).toEqual([['In the shop', 100]])
  expect([(await to('US', 'Calif.')).status, (await to('US', 'Calif.')).json]).toMatchObject([
    400,
    { code: 'SHIPPING_REGION_INVALID', errors: [{ path: 'body/destination/region' }] }
  ])
  expect((await to('SE', 'Uppland')).status).toBe(200)
})

test('changes of shipping zones, methods and rates take effect immediately', async () => {
  const { admin, made, ask } = await useEmptyShipping()
  const destination = { country: 'SE', postal_code: '114 55' }
  const shown = async () => shownIn(await ask({ ...PARCEL, destination }))
  const path = (of: string, { id }: { id: string }) => `/api/admin/shipping/${of}/${id}`
  const zone = await made('zones', { name: 'Sweden', areas: [{ country: 'SE' }] })
  const post = await made('methods', { kind: 'shipping', service: 'Standard' })
  const place = { method_id: post.id, zone_id: zone.id }
  expect(await shown()).toEqual([])
  const rate = await made('rates', { ...place, amount: 490 })
  expect(await shown()).toEqual([['Standard', 490]])
  await admin.patch(path('rates', rate), { amount: 500 })
  expect(await shown()).toEqual([['Standard', 500]])
  await admin.delete(path('rates', rate))
  expect(await shown()).toEqual([])
  await made('rates', { ...place, amount: 510 })
  await admin.patch(path('methods', post), { service: 'Slow' })
  expect(await shown()).toEqual([['Slow', 510]])
  const city = await made('zones', { name: 'Stockholm', areas: [{ country: 'SE', postal_code: '11*' }] })
  expect(await shown()).toEqual([])
  await admin.patch(path('zones', city), { areas: [{ country: 'SE', postal_code: '12*' }] })
  expect(await shown()).toEqual([['Slow', 510]])
  await admin.patch(path('zones', city), { areas: city.areas })
  expect(await shown()).toEqual([])
  await admin.delete(path('zones', city))
  expect(await shown()).toEqual([['Slow', 510]])
  await admin.delete(path('methods', post))
  expect(await shown()).toEqual([])
})

test('changed shipping rules take effect here immediately, elsewhere soon, and estimates run no statement', async () => {
  const shop = await useEmptyShipping()
  const other = await useShipping({ databaseUrl: shop.databaseUrl })
  const { post, rate } = await usePost(shop)
  const body = { ...TO_SWEDEN, ...PARCEL }
  await expect.poll(async () => shownIn(await other.ask(body))).toContainEqual(['Standard', 490])
  await shop.admin.patch(`/api/admin/shipping/rates/${rate.id}`, { amount: 700 })
  expect(shownIn(await shop.ask(body))).toContainEqual(['Standard', 700])
  await expect.poll(async () => shownIn(await other.ask(body))).toContainEqual(['Standard', 700])
  const sent = async () =>
    (await shop.record(() => shop.ask(body))).statements.filter(name => name.startsWith('shipping.'))
  // The cache is dropped when a change message arrives, and when the connection for messages is slow.
  await expect.poll(sent).toEqual([])
  await shop.admin.delete(`/api/admin/shipping/methods/${post.id}`)
  expect(shownIn(await shop.ask(body))).toEqual([['In the shop', 100]])
  await expect.poll(async () => shownIn(await other.ask(body))).toEqual([['In the shop', 100]])
})

test('a shipping option keeps its id when its price changes', async () => {
  const shop = await useEmptyShipping()
  const { rate } = await usePost(shop)
  const idOf = async () => (await shop.ask({ ...TO_SWEDEN, ...PARCEL })).json.rates[1].id
  const before = await idOf()
  await shop.admin.patch(`/api/admin/shipping/rates/${rate.id}`, { amount: 700 })
  expect(await idOf()).toBe(before)
})
