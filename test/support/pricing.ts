import type { Module } from '../../src/module.ts'
import { type PricingApi, pricingModule } from '../../src/modules/pricing/index.ts'
import { deleteAll } from './delete-all.ts'
import type { OnFinished } from './shared-shops.ts'
import { useShop } from './use-shop.ts'

const EUROPE = {
  code: 'de',
  name: 'Germany',
  countries: ['DE', 'AT'],
  currency: 'EUR',
  prices_include_tax: true,
  locale: 'de-DE'
}

const REDEEMERS = 'select distinct owner from pricing.redemptions'

type Options = {
  databaseUrl?: string
  currency?: string
  settings?: Readonly<Record<string, string>>
  modules?: readonly Module[]
  /** Paths below `/api/admin`: what earlier tests of a shared shop made there is deleted, in this order. */
  without?: readonly string[]
}

/** A shop that has nothing but prices, in Swiss francs unless told otherwise. */
export async function usePricing(
  { databaseUrl, currency = 'CHF', settings = {}, modules = [], without = [] }: Options = {},
  onFinished?: OnFinished
) {
  const shop = await useShop(
    {
      modules: [pricingModule, ...modules],
      settings: { CARTWRIGHT__SHOP__CURRENCY: currency, ...settings },
      databaseUrl
    },
    onFinished
  )
  const admin = shop.as({ token: 'admin' })
  const pricing = shop.apiOf(pricingModule) as PricingApi
  // A redeemed promotion cannot be deleted.
  for (const { owner } of without.includes('promotions') ? await shop.sql(REDEEMERS) : [])
    await shop.db.transaction(tx => pricing.release(tx, String(owner)))
  for (const path of without) await deleteAll(admin, `/api/admin/${path}`)
  return {
    ...shop,
    pricing,
    /** In a transaction of its own, by `owner`. */
    redeem: (owner: string, redemptions: Parameters<PricingApi['serializedBy']>[1], customer: string) =>
      pricing.serializedBy(shop.db, redemptions).transaction(tx => pricing.redeem(tx, owner, customer)),
    admin,
    anonymous: shop.as(null),
    /** A market of Germany, in euros, unless told otherwise. */
    createMarket: async (fields: object = {}) =>
      (await admin.post('/api/admin/markets', { ...EUROPE, ...fields })).json
  }
}
