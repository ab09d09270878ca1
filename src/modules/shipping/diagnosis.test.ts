import { expect, test } from 'vitest'
import { EXPRESS } from '../../../test/support/carrier.ts'
import { useCheckouts } from '../../../test/support/checkouts.ts'
import { pricingModule } from '../pricing/index.ts'
import { diagnoseShippingTax } from './diagnosis.ts'

test('doctor warns of an untaxed shipping method with a price in a market with taxes', async () => {
  const { db, apiOf, made, usePost, admin, sql } = await useCheckouts()
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

  const rate = (taxCategory: string | null, amountMinor = 700) =>
    sql(
      `insert into shipping.provider_rates (parcel, provider, rates, expires_at) values ($1, 'swift', $2, now())`,
      [Buffer.from(String(taxCategory)), JSON.stringify([{ ...EXPRESS, amountMinor, taxCategory }])]
    )
  await rate(null)
  await rate('gifts', 0)
  expect((await check?.find())?.state).toBe('ok')
  await rate('postage')
  expect(await check?.find()).toMatchObject({ detail: 'swift: Next day is not taxed in default' })
})
