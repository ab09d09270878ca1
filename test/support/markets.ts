import { expect } from 'vitest'
import { type CatalogApi, catalogModule } from '../../src/modules/catalog/index.ts'
import { type PricingApi, pricingModule } from '../../src/modules/pricing/index.ts'
import { useShop } from './use-shop.ts'

const LISTS = '/api/admin/price-lists'

/** A shop in dollars that has a catalog and prices: one process of it, or another of the same. */
export async function useMarkets(databaseUrl?: string) {
  const shop = await useShop({ modules: [pricingModule, catalogModule], databaseUrl })
  const admin = shop.as({ token: 'admin' })
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(path, body)
    expect(status, text).toBe(201)
    return json
  }
  return {
    ...shop,
    admin,
    catalog: shop.apiOf(catalogModule) as CatalogApi,
    pricing: shop.apiOf(pricingModule) as PricingApi,
    createMarket: (code: string, currency: string, price_list_id: string | null = null) =>
      made('/api/admin/markets', {
        code,
        name: code,
        countries: [],
        currency,
        price_list_id,
        prices_include_tax: false,
        locale: 'en'
      }),
    createList: async (currency: string, fields: object = {}) =>
      (await made(LISTS, { name: 'List', currency, ...fields })).id as string,
    setPrices: async (listId: string, ...prices: object[]) => {
      const { status, text } = await admin.put(`${LISTS}/${listId}/prices`, { prices })
      expect(status, text).toBe(204)
    },
    importPrices: async (listId: string, file: string) => {
      const { status, text } = await shop.request('POST', `${LISTS}/${listId}/import`, {
        token: 'admin',
        headers: { 'content-type': 'text/csv' },
        body: file
      })
      expect(status, text).toBe(200)
    },
    /** What a list of products shows in a market: names with prices, by default those that have one, the cheapest first. */
    listed: async (market: string, query = 'sort=price') => {
      const { status, json, text } = await shop.request('GET', `/api/products?market=${market}&${query}`)
      expect(status, text).toBe(200)
      return json.items.map((item: { name: string; discounted_price: number | null }) => [
        item.name,
        item.discounted_price
      ]) as [string, number | null][]
    },
    /** What the page of a product shows in a market: what each of its variants is sold for. */
    onPage: async (market: string, productId: string) => {
      const { status, json, text } = await shop.request('GET', `/api/products/${productId}`, {
        headers: { 'x-market': market }
      })
      expect(status, text).toBe(200)
      return json.variants.map(
        (variant: { discounted_price: number }) => variant.discounted_price
      ) as number[]
    }
  }
}
export type Markets = Awaited<ReturnType<typeof useMarkets>>

type Item = { id: string; price: number | null; discounted_price: number | null; variant_count: number }
type Variant = { id: string; price: number; discounted_price: number; quantity_min: number }

/** Lists say the lowest of what pages do, and pages what offers do. */
export async function expectAgreement(shop: Markets, productIds: readonly string[], market: string) {
  const resolved = await shop.pricing.markets.resolve({ name: market })
  const { items } = (await shop.request('GET', `/api/products?market=${market}&limit=100`)).json
  for (const id of productIds) {
    const variants: Variant[] = (await shop.request('GET', `/api/products/${id}?market=${market}`)).json
      .variants
    const wanted = variants.map(each => ({ variantId: each.id, quantity: each.quantity_min }))
    const offers = await shop.catalog.offers(wanted, resolved)
    const shown = variants.map(each => ({ price: each.price, discountedPrice: each.discounted_price }))
    expect(offers).toMatchObject(shown)
    const [lowest] = shown.sort((a, b) => a.discountedPrice - b.discountedPrice || a.price - b.price)
    const item = items.find((each: Item) => each.id === id)
    expect([item.price, item.discounted_price, item.variant_count]).toEqual([
      lowest?.price ?? null,
      lowest?.discountedPrice ?? null,
      variants.length
    ])
  }
}
