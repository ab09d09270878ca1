import { expect, test } from 'vitest'
import { codesOf, itemOf, STOCKHOLM, useCheckouts } from '../../../../test/support/checkouts.ts'
import { countryCodes } from '../../../kernel/countries.ts'
import { findRegionCode, listRegionsOfCountry, regionCodesInnermostFirst } from '../../../kernel/regions.ts'

async function useCountries(options: Parameters<typeof useCheckouts>[0] = {}) {
  const shop = await useCheckouts(options)
  const read = async (country: string) => (await shop.anonymous.get(`/api/countries/${country}`)).json
  return { ...shop, read }
}
const codesIn = ({ regions }: { regions: { code: string }[] }) => regions.map(({ code }) => code)

test('the address rules of a country have its required fields and regions, sorted by name', async () => {
  const { read, anonymous } = await useCountries()
  const usa = await read('US')
  expect(usa.required).toEqual(['name', 'line1', 'city', 'region', 'postal_code'])
  expect(usa.regions).toContainEqual({ code: 'CA', name: 'California', within: null })
  expect(codesIn(usa).slice(0, 3)).toEqual(['AL', 'AK', 'AS'])
  expect((await read('ES')).regions).toContainEqual({ code: 'GC', name: 'Las Palmas', within: 'CN' })
  const germany = await read('DE')
  expect([germany.country, germany.required]).toEqual(['DE', ['name', 'line1', 'city', 'postal_code']])
  expect(germany.regions).toHaveLength(16)
  const unknown = await anonymous.get('/api/countries/XX')
  expect([unknown.status, unknown.json.code]).toEqual([404, 'COUNTRY_NOT_FOUND'])
  for (const wrong of ['us', 'USA', '1'])
    expect((await anonymous.get(`/api/countries/${wrong}`)).status).toBe(400)
})

test('a region is required where taxes or delivery depend on it, and only regions that decide them are listed', async () => {
  const { read, made } = await useCountries()
  const fields = async (country: string) => (await read(country)).required
  await made('taxes/zones', { name: 'Bavaria', country: 'DE', region: 'BY' }).then(({ id }) =>
    made('taxes/rates', { zone_id: id, category: 'standard', name: 'Tax', rate_ppm: 1 })
  )
  await expect.poll(() => fields('DE')).toEqual(['name', 'line1', 'city', 'postal_code', 'region'])
  await made('shipping/zones', { name: 'Gran Canaria', areas: [{ country: 'ES', region: 'GC' }] })
  await expect.poll(async () => codesIn(await read('ES'))).not.toContain('CN')
  expect(codesIn(await read('ES'))).toEqual(expect.arrayContaining(['GC', 'TF', 'CT', 'B']))
  expect(await fields('SE')).toEqual(['name', 'line1', 'city', 'postal_code'])
})

test('a checkout accepts each region that the address rules list', async () => {
  const { read, made, sell, usePost, anonymous } = await useCountries()
  await usePost()
  const { id: zone_id } = await made('taxes/zones', { name: 'Uppland', country: 'SE', region: 'AB' })
  await made('taxes/rates', { zone_id, category: 'standard', name: 'Moms', rate_ppm: 1 })
  const items = [itemOf(await sell())]
  const remarks = async (region?: string) => {
    const shipping_address = { ...STOCKHOLM, ...(region !== undefined && { region }) }
    const body = { items, email: 'ada@example.com', shipping_address }
    return codesOf((await anonymous.post('/api/checkouts/guest', body)).json)
  }
  expect(await remarks()).toEqual(['ADDRESS_INVALID'])
  const offered = codesIn(await read('SE'))
  expect(offered).toHaveLength(21)
  for (const code of offered) expect(await remarks(code), code).toEqual([])
})

test('browsers and proxies can cache the address rules of a country, and revalidate them', async () => {
  const { anonymous, record } = await useCountries()
  const path = '/api/countries/CA'
  const { headers } = await anonymous.get(path)
  expect(headers['cache-control']).toBe('public, max-age=0, stale-if-error=300')
  const again = () => anonymous.get(path, undefined, { 'if-none-match': String(headers.etag) })
  // An invalidation from the start may clear the cache again.
  await expect
    .poll(async () => {
      const { result, statements } = await record(again)
      expect(result.status).toBe(304)
      return statements
    })
    .toEqual([])
})

test('without the shipping module, a region is required only where taxes depend on it', async () => {
  const { read } = await useCountries({ off: ['shipping'] })
  expect((await read('SE')).required).toEqual(['name', 'line1', 'city', 'postal_code'])
})

test('each region in the address rules is known by its code, and lies in its listed parent', () => {
  for (const country of countryCodes) {
    const regions = listRegionsOfCountry(country)
    expect(new Set(regions.map(({ code }) => code)).size).toBe(regions.length)
    for (const { code, within } of regions) {
      expect(findRegionCode(country, code), `${country}-${code}`).toBe(code)
      expect(regionCodesInnermostFirst(country, code)[1] ?? null, `${country}-${code}`).toBe(within)
    }
  }
})
