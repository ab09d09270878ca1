import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../test/support/checkouts.ts'

test('the hash of a quote changes with each item and amount, and with nothing else', async () => {
  const shop = await useCheckouts()
  const { admin, made, anonymous } = shop
  const ways = await shop.usePost()
  const [mug, cup] = [await shop.sell({ price: 1_990 }), await shop.sell({ price: 5, weight_grams: 1 })]
  const effect = { type: 'percentage', percentage_ppm: 100_000 }
  const tenth = await made('promotions', { name: 'A tenth', class: 'order', effect, needs_code: true })
  await made(`promotions/${tenth.id}/codes`, { code: 'TENTH' })
  const taxes = await made('taxes/zones', { name: 'Sweden', country: 'SE' })
  const tax = await made('taxes/rates', {
    zone_id: taxes.id,
    category: 'standard',
    name: 'Moms',
    rate_ppm: 250_000
  })
  const body = { items: [itemOf(mug, 2), itemOf(cup)], shipping_address: STOCKHOLM, codes: ['tenth'] }
  const hashOf = async (more: object = {}, query = ''): Promise<string> => {
    const { status, json, text } = await anonymous.post(`/api/checkouts/guest${query}`, { ...body, ...more })
    expect(status, text).toBe(201)
    return json.quote_hash
  }
  const first = await hashOf()
  const options = (await anonymous.post('/api/checkouts/guest', body)).json.groups[0].options as {
    id: string
    service: string
  }[]
  const optionOf = (name: string) => options.find(({ service }) => service === name)?.id

  // These are not part of the price.
  expect(await hashOf({ items: body.items.toReversed() })).toBe(first)
  expect(await hashOf({ items: [itemOf(mug), itemOf(cup), itemOf(mug)] })).toBe(first)
  for (const code of ['TENTH', ' Tenth', 'ｔｅｎｔｈ']) expect(await hashOf({ codes: [code] })).toBe(first)
  expect(await hashOf({ codes: ['none', 'tenth', 'TENTH'] })).toBe(first)
  expect(await hashOf({ email: 'ada@example.com', note: 'Soon', billing_address: STOCKHOLM })).toBe(first)
  expect(await hashOf({ shipping_option: optionOf('Standard') })).toBe(first)
  expect(await hashOf({}, '?market=default')).toBe(first)
  await admin.patch(`/api/catalog/variants/${mug}`, { name: 'Cup', sku: 'CUP', attributes: { Size: 'L' } })
  await admin.patch(`/api/admin/promotions/${tenth.id}`, { name: 'Ten of a hundred' })
  await admin.patch(`/api/admin/shipping/methods/${ways.standard}`, { service: 'Slow' })
  expect(await hashOf()).toBe(first)

  // These are.
  const prices = [first]
  const expectAnother = async (more: object = {}) => {
    const hash = await hashOf(more)
    expect(prices).not.toContain(hash)
    prices.push(hash)
  }
  await expectAnother({ codes: [] })
  await expectAnother({ items: [itemOf(mug, 2), itemOf(cup, 2)] })
  await expectAnother({ items: [itemOf(mug, 2)] })
  await expectAnother({ shipping_option: optionOf('Express') })
  await expectAnother({ shipping_option: ways.pickup })
  await expectAnother({ shipping_address: { ...STOCKHOLM, country: 'DE' } })
  await expectAnother({ shipping_address: undefined })
  await admin.patch(`/api/catalog/variants/${cup}`, { price: 6 })
  await expectAnother()
  await admin.patch(`/api/admin/taxes/rates/${tax.id}`, { rate_ppm: 240_000 })
  await expectAnother()
  // The same total, with tax included.
  const [market] = (await admin.get('/api/admin/markets')).json.items
  await admin.patch(`/api/admin/markets/${market.id}`, { prices_include_tax: true })
  await expectAnother()
  await admin.patch(`/api/admin/promotions/${tenth.id}`, { effect: { ...effect, percentage_ppm: 110_000 } })
  await expectAnother()
})
