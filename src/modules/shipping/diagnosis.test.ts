import { expect, test } from 'vitest'
import { useCheckouts } from '../../../test/support/checkouts.ts'
import { pricingModule } from '../pricing/index.ts'
import { diagnoseShippingTax } from './diagnosis.ts'

test('doctor warns of an untaxed shipping method with a price in a market with taxes', async () => {
  const { db, apiOf, made, usePost, admin } = await useCheckouts()
  const [check] = diagnoseShippingTax({ db, pricing: apiOf(pricingModule) })
  const { express } = await usePost()
  const put = (tax_category: string | null) =>
    admin.patch(`/api/admin/shipping/methods/${express}`, { tax_category })
  await put('untaxed')
  expect((await check?.find())?.state).toBe('ok')

  const zone = await made('taxes/zones', { name: 'Sweden', country: 'SE' })
  await made('taxes/rates', { zone_id: zone.id, category: 'standard', name: 'Moms', rate_ppm: 250_000 })
  expect(await check?.find()).toMatchObject({
    state: 'warning',
    detail: 'Express is not taxed in default',
    advice: expect.stringContaining('tax_category')
  })
  await put('books')
  expect((await check?.find())?.state).toBe('warning')
  await put(null)
  expect((await check?.find())?.state).toBe('ok')
})
