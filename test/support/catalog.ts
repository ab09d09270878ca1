import { randomUUID } from 'node:crypto'
import { type CatalogApi, catalogModule } from '../../src/modules/catalog/index.ts'
import { createProductPricesInPriceLists } from '../../src/modules/catalog/list-prices/service.ts'
import { createCatalogChangePublisher } from '../../src/modules/catalog/revision/changes.ts'
import { createCheapestVariantPriceService } from '../../src/modules/catalog/revision/lowest-prices.ts'
import type { InventoryApi } from '../../src/modules/inventory/index.ts'
import type { Broadcast } from '../../src/platform/broadcast.ts'
import type { Database } from '../../src/platform/postgres/database.ts'
import type { TestShop } from '../../src/testing.ts'
import { useShop } from './use-shop.ts'

export type CatalogApp = TestShop & { catalog: CatalogApi }

/**
 * One process with the module catalog alone, for one test. Tokens are the names of roles, `admin` and `customer`.
 * Several processes share a database when `databaseUrl` is handed on. Without an `inventory` stock is not tracked.
 */
export async function useCatalog(
  settings: Record<string, string> = {},
  databaseUrl?: string,
  inventory?: InventoryApi
): Promise<CatalogApp> {
  const instead: Record<string, object> = inventory ? { inventory } : {}
  const shop = await useShop({ modules: [catalogModule], instead, settings, databaseUrl })
  return { ...shop, catalog: shop.apiOf(catalogModule) as CatalogApi }
}

/** The lowest prices of a catalog without price lists. */
export const lowestPricesOf = (db: Database, currency = 'USD') =>
  createCheapestVariantPriceService({
    db,
    enqueue: () => {},
    emit: () => {},
    currency,
    listPrices: createProductPricesInPriceLists({ pricing: undefined, enqueue: () => {}, currency })
  })
/** Announces changes of a catalog without price lists, and emits nothing. */
export const changesOf = ({ db, broadcast }: { db: Database; broadcast: Broadcast }) =>
  createCatalogChangePublisher({ broadcast, emit: () => {}, lowestPrices: lowestPricesOf(db) })

type Shop = Pick<TestShop, 'request'>

/** Makes a product by the administrator's route and answers it. */
export async function createProduct(app: Shop, fields: Record<string, unknown> = {}) {
  const { variants = [{ sku: randomUUID(), price: 1_000 }], ...others } = fields
  const body = { name: 'Mug', variants: toldApart(variants), slug: randomUUID(), ...others }
  const { status, json, text } = await app.request('POST', '/api/catalog/products', { token: 'admin', body })
  if (status !== 201) throw new Error(text)
  return json
}

/** Several variants need something to choose them by, which most tests do not care about. */
const toldApart = (variants: unknown) => {
  const all = variants as { sku: string }[]
  return all.length < 2 ? all : all.map(each => ({ attributes: { Kind: each.sku }, ...each }))
}

/** Makes a discount by the administrator's route and answers it. */
export async function createDiscount(app: Shop, fields: Record<string, unknown>) {
  const body = { name: 'Less', ...fields }
  const { status, json, text } = await app.request('POST', '/api/catalog/discounts', { token: 'admin', body })
  if (status !== 201) throw new Error(text)
  return json
}

/** Makes a category by the administrator's route and answers it. */
export async function createCategory(app: Shop, name: string, parentId: string | null = null) {
  const body = { name, parent_id: parentId }
  const { status, json, text } = await app.request('POST', '/api/catalog/categories', {
    token: 'admin',
    body
  })
  if (status !== 201) throw new Error(text)
  return json
}

/** One of each of these variants: what `CatalogApi.offers` is asked for. */
export const oneOfEach = (variantIds: readonly string[]) =>
  variantIds.map(variantId => ({ variantId, quantity: 1 }))
