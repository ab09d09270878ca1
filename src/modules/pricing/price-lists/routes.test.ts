import { expect, test } from 'vitest'
import { usePricing } from '../../../../test/support/pricing.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'

shareShops()

const LISTS = '/api/admin/price-lists'
const WHOLESALE = { name: 'Wholesale', currency: 'EUR' }
const useEmptyPricing = () => usePricing({ without: ['markets', 'price-lists'] })

test('a price list is created, changed and deleted, and listed newest first', async () => {
  const { admin } = await useEmptyPricing()
  const { status, json: made, headers } = await admin.post(LISTS, WHOLESALE)
  expect([status, headers.etag]).toEqual([201, '"1"'])
  expect(made).toMatchObject({ ...WHOLESALE, parent_id: null, adjustment_ppm: 0, version: 1 })
  const below = { ...WHOLESALE, name: 'Members', parent_id: made.id, adjustment_ppm: -50_000 }
  const { json: child } = await admin.post(LISTS, below)
  const { json } = await admin.get(`${LISTS}?count=true&limit=1`)
  expect([json.total, json.items]).toEqual([2, [child]])
  const path = `${LISTS}/${child.id}`
  expect((await admin.patch(path, { name: 'x' }, { 'if-match': '"4"' })).json.code).toBe(
    'PRICING_PRICE_LIST_STALE'
  )
  expect((await admin.patch(path, { adjustment_ppm: 10 })).json).toMatchObject({
    adjustment_ppm: 10,
    version: 2
  })
  expect((await admin.delete(path, undefined, { 'if-match': '"1"' })).status).toBe(412)
  expect((await admin.delete(path)).status).toBe(204)
  for (const answer of [await admin.get(path), await admin.patch(path, {}), await admin.delete(path)])
    expect(answer.json.code).toBe('PRICING_PRICE_LIST_NOT_FOUND')
})

test('a parent price list has the same currency, at most five levels exist, and an adjustment needs a parent', async () => {
  const { admin } = await useEmptyPricing()
  const { json: top } = await admin.post(LISTS, WHOLESALE)
  const codeOf = async (fields: object) => (await admin.post(LISTS, { ...WHOLESALE, ...fields })).json.code
  expect(await codeOf({ parent_id: top.id, currency: 'CHF' })).toBe('PRICING_PARENT_LIST_INVALID')
  expect(await codeOf({ parent_id: newId() })).toBe('PRICING_PARENT_LIST_INVALID')
  expect(await codeOf({ adjustment_ppm: 1 })).toBe('PRICING_ADJUSTMENT_INVALID')
  expect((await admin.patch(`${LISTS}/${top.id}`, { adjustment_ppm: 1 })).json.code).toBe(
    'PRICING_ADJUSTMENT_INVALID'
  )
  let parent_id = top.id
  for (let depth = 2; depth <= 5; depth += 1)
    parent_id = (await admin.post(LISTS, { ...WHOLESALE, parent_id })).json.id
  expect(await codeOf({ parent_id })).toBe('PRICING_PRICE_LIST_TOO_DEEP')
})

test('a price list in use cannot be deleted, and has the currency of its markets', async () => {
  const { admin, createMarket } = await useEmptyPricing()
  const { json: list } = await admin.post(LISTS, WHOLESALE)
  const { json: child } = await admin.post(LISTS, { ...WHOLESALE, parent_id: list.id })
  const market = await createMarket({ price_list_id: child.id })
  expect(market.price_list_id).toBe(child.id)
  const path = `/api/admin/markets/${market.id}`
  for (const { id } of [list, child])
    expect((await admin.delete(`${LISTS}/${id}`)).json.code).toBe('PRICING_PRICE_LIST_IN_USE')
  expect((await admin.patch(path, { currency: 'SEK' })).json.code).toBe('PRICING_MARKET_LIST_INVALID')
  expect((await admin.patch(path, { price_list_id: newId() })).json.code).toBe('PRICING_MARKET_LIST_INVALID')
  expect((await admin.patch(path, { currency: 'SEK', price_list_id: null })).status).toBe(200)
  for (const { id } of [child, list]) expect((await admin.delete(`${LISTS}/${id}`)).status).toBe(204)
})

test('a reference to a price list that is being deleted is rejected, or prevents the deletion', async () => {
  const { admin, sql } = await useEmptyPricing()
  for (let round = 0; round < 5; round += 1) {
    const { json: list } = await admin.post(LISTS, WHOLESALE)
    const [made, gone] = await Promise.all([
      admin.post(LISTS, { ...WHOLESALE, parent_id: list.id }),
      admin.delete(`${LISTS}/${list.id}`)
    ])
    expect([[201, 409].join(), [400, 204].join()]).toContain([made.status, gone.status].join())
  }
  expect(
    await sql(`select from pricing.price_lists c where parent_id is not null
      and not exists (select from pricing.price_lists p where p.id = c.parent_id)`)
  ).toEqual([])
})

test('the 1,001st price list is rejected', async () => {
  needsOwnShop()
  const { admin, sql } = await usePricing()
  await sql(
    `insert into pricing.price_lists (id, name, currency, adjustment_ppm, depth)
    select gen_random_uuid(), 'L', 'EUR', 0, 1 from generate_series(1, 1000)`
  )
  expect((await admin.post(LISTS, WHOLESALE)).json).toMatchObject({
    code: 'PRICING_PRICE_LIST_LIMIT',
    limit: 1_000
  })
  expect((await admin.get(`${LISTS}?count=true&limit=1`)).json.total).toBe(1_000)
})

test('a changed shop currency removes the price list of the default market', async () => {
  needsOwnShop()
  const { admin, databaseUrl, pricing } = await usePricing()
  const { json: list } = await admin.post(LISTS, { ...WHOLESALE, currency: 'CHF' })
  const [{ id }] = (await admin.get('/api/admin/markets')).json.items
  expect((await admin.patch(`/api/admin/markets/${id}`, { price_list_id: list.id })).status).toBe(200)
  expect((await pricing.markets.resolve({})).priceListId).toBe(list.id)
  await usePricing({ databaseUrl, currency: 'SEK' })
  expect((await admin.get(`/api/admin/markets/${id}`)).json).toMatchObject({
    currency: 'SEK',
    price_list_id: null
  })
})
