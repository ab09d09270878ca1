import { expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { REGIONS_SPELLED } from '../../../../test/support/regions.ts'

type Shop = Awaited<ReturnType<typeof useCheckouts>>
const ANGELES = { ...STOCKHOLM, city: 'Los Angeles', postal_code: '90012', country: 'US' }
const POSTAL_CODES: Record<string, string> = {
  US: '90012',
  FR: '75001',
  DE: '70173',
  JP: '100-0001',
  AT: '6020'
}

async function taxRegion({ made }: Shop, country: string, region: string) {
  const { id: zone_id } = await made('taxes/zones', { name: region, country, region })
  await made('taxes/rates', { zone_id, category: 'standard', name: 'Tax', rate_ppm: 72_500 })
}
async function sendEverywhere({ made }: Shop, area: object = { country: '*' }, amount = 500) {
  const zone = await made('shipping/zones', { name: `For ${amount}`, areas: [area] })
  const method = await made('shipping/methods', {
    kind: 'shipping',
    service: 'Post',
    tax_category: 'untaxed'
  })
  await made('shipping/rates', { method_id: method.id, zone_id: zone.id, amount })
}
/** The checkout of a guest, and its blocking findings. */
async function checkoutOf(shop: Shop, variant: string, said: object) {
  const body = { items: [itemOf(variant)], email: 'ada@example.com', ...said }
  const { status, json, text } = await shop.anonymous.post('/api/checkouts/guest', body)
  expect(status, text).toBe(201)
  const faults = json.findings.map((each: Record<string, unknown>) => [each.code, each.field, each.blocking])
  return { json, faults }
}

test('every spelling of a region in an address has the same taxes and shipping rates', async () => {
  const shop = await useCheckouts()
  const mug = await shop.sell()
  await sendEverywhere(shop)
  for (const [country, code] of REGIONS_SPELLED) {
    await taxRegion(shop, country, code)
    await sendEverywhere(shop, { country, region: code }, 900)
  }
  for (const [country, code, spellings] of REGIONS_SPELLED)
    for (const region of [code, ...spellings]) {
      const postal_code = POSTAL_CODES[country]
      const address = { ...STOCKHOLM, country, postal_code, region }
      const { json } = await checkoutOf(shop, mug, { shipping_address: address })
      const { ready, tax_total, shipping_total, shipping_address } = json
      expect([ready, tax_total, shipping_total], region).toEqual([true, 73, 900])
      // Unchanged, for the shipping label.
      expect(shipping_address.region).toBe(region.trim())
    }
})

test('a checkout needs a valid region where taxes depend on the region', async () => {
  const shop = await useCheckouts()
  const mug = await shop.sell()
  await sendEverywhere(shop)
  const to = (fields: object) => checkoutOf(shop, mug, { shipping_address: { ...ANGELES, ...fields } })
  const berlin = { city: 'Berlin', postal_code: '10115', country: 'DE' }
  // While no zone names a region, any text is accepted.
  expect((await to({ region: 'Calif.' })).json.ready).toBe(true)
  await taxRegion(shop, 'US', 'California')
  await taxRegion(shop, 'DE', 'BY')
  const fault = ['ADDRESS_INVALID', 'shipping_address/region', true]
  for (const region of ['Calif.', '\u0421\u0410', 'X', 'BY']) {
    const { json, faults } = await to({ region })
    expect([json.ready, faults], region).toEqual([false, [fault]])
  }
  expect((await to({})).faults).toEqual([fault])
  expect((await to({ region: 'NY', postal_code: '10001' })).json).toMatchObject({ ready: true, tax_total: 0 })
  // German addresses need no region, but these taxes do.
  expect((await to(berlin)).faults).toEqual([fault])
  expect((await to({ ...berlin, region: 'Berlin' })).json.ready).toBe(true)
  expect((await to({ ...STOCKHOLM, region: 'Uppland' })).json.ready).toBe(true)
})

test('the region of an address is not precise enough if a part of it has other taxes', async () => {
  const shop = await useCheckouts()
  const song = await shop.sell({ requires_shipping: false })
  await taxRegion(shop, 'ES', 'GC')
  const to = (region: string) => checkoutOf(shop, song, { shipping_address: { country: 'ES', region } })
  expect((await to('Canarias')).faults).toEqual([['ADDRESS_INVALID', 'shipping_address/region', true]])
  expect((await to('Las Palmas')).json).toMatchObject({ ready: true, tax_total: 73 })
  expect((await to('TF')).json).toMatchObject({ ready: true, tax_total: 0 })
})

test('a checkout needs a valid region where shipping rates depend on the region', async () => {
  const shop = await useCheckouts()
  const mug = await shop.sell()
  await sendEverywhere(shop)
  await sendEverywhere(shop, { country: 'US', region: 'HI' }, 3_000)
  const { json, faults } = await checkoutOf(shop, mug, { shipping_address: { ...ANGELES, region: 'Hawaai' } })
  expect([json.ready, faults]).toEqual([false, [['ADDRESS_INVALID', 'shipping_address/region', true]]])
})

test('digital lines are taxed by the region of the billing address, and pickups by none', async () => {
  const shop = await useCheckouts()
  const [mug, song] = [await shop.sell(), await shop.sell({ requires_shipping: false })]
  const { pickup } = await shop.usePost()
  await taxRegion(shop, 'US', 'CA')
  const billed = await checkoutOf(shop, song, { billing_address: { ...ANGELES, region: 'Calif.' } })
  expect(billed.faults).toEqual([['ADDRESS_INVALID', 'billing_address/region', true]])
  const vague = await checkoutOf(shop, song, { shipping_address: { country: 'US' } })
  expect(vague.faults).toEqual([['ADDRESS_INVALID', 'shipping_address/region', true]])
  const told = await checkoutOf(shop, song, { shipping_address: { country: 'US', region: 'California' } })
  expect([told.json.ready, told.json.tax_total]).toEqual([true, 73])
  const fetched = { shipping_option: pickup, shipping_address: { country: 'US', region: 'Calif.' } }
  expect((await checkoutOf(shop, mug, fetched)).json.ready).toBe(true)
})
