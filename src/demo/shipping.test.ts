import { expect, test } from 'vitest'
import { useShipping } from '../../test/support/shipping.ts'
import { type ShippingApi, shippingModule } from '../modules/shipping/index.ts'
import { demoShippingSetup } from './shipping.ts'

const apiOf = (shop: Awaited<ReturnType<typeof useShipping>>) =>
  shop.apiOf(shippingModule) ?? expect.fail('the module is off')
const parcelTo = (
  country: string,
  currency: string
): Parameters<Awaited<ReturnType<ShippingApi['loadRateCalculator']>>>[0] => ({
  destination: { country },
  weightGrams: 1_200,
  valueMinor: 2_000,
  items: 1,
  currency,
  requiresShipping: true
})

test('the demo shop ships at home and worldwide, offers pickup, and delivers digital products by e-mail', async () => {
  const shop = await useShipping()
  const shipping = apiOf(shop)
  expect(await shipping.createInitialRules(demoShippingSetup('USD'))).toBe(true)
  const ratesOf = await shipping.loadRateCalculator()
  const shown = (country: string, fields = {}) =>
    ratesOf({ ...parcelTo(country, 'USD'), ...fields }).map(({ service, amountMinor }) => [
      service,
      amountMinor
    ])
  expect(shown('US')).toEqual([
    ['Pick up in the shop', 0],
    ['Standard', 490]
  ])
  expect(shown('US', { valueMinor: 10_000 })).toContainEqual(['Standard', 0])
  expect(shown('SE')).toEqual([
    ['Pick up in the shop', 0],
    ['Worldwide', 2_990]
  ])
  expect(shown('SE', { requiresShipping: false })).toEqual([['By e-mail', 0]])
})

test('demo shipping methods are created once by two processes, and never in a shop that has shipping methods', async () => {
  const shop = await useShipping()
  const other = await useShipping({ databaseUrl: shop.databaseUrl })
  const created = await Promise.all(
    [shop, other].map(each => apiOf(each).createInitialRules(demoShippingSetup('USD')))
  )
  expect(created.sort()).toEqual([false, true])
  const { json } = await shop.admin.get('/api/admin/shipping/methods?count=true')
  expect(json.total).toBe(4)
})

test.each([
  ['JPY', 'JP', 490],
  ['KWD', 'KW', 4_900],
  ['EUR', 'DE', 490]
])(
  'in the demo shop of %s the home zone is %s, and the shipping price is %d in minor units',
  (currency, country, amount) => {
    const { zones, methods } = demoShippingSetup(currency)
    expect([Object.values(zones)[0], methods[0].rates[0].price]).toEqual([country, amount])
  }
)
