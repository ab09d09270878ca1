import { defineModule } from '../../module.ts'

/** What a variant is sold for at this moment. Amounts in minor units of `currency`. */
export type Offer = {
  readonly variantId: string
  readonly price: number
  /** Equals `price` when nothing is off. */
  readonly discountedPrice: number
  readonly currency: string
  /**
   * The descriptive fields as JSON text without the outer braces, ready to be joined into an answer:
   * `"variant_id":…,"product_id":…,"name":…,"sku":…,"price":…,"discounted_price":…,"image_url":…,"attributes":{…}`.
   */
  readonly json: string
}

export type CatalogApi = {
  /**
   * The present offers of these variants, in their order; `undefined` where a variant does not exist or is not
   * sold. One look-up in memory, or one statement for all that is not there.
   */
  offers(variantIds: readonly string[]): Promise<(Offer | undefined)[]>
  /** @throws `CATALOG_VARIANT_NOT_FOUND` unless there is such a variant, for sale or not. */
  requireVariant(variantId: string): Promise<void>
}

export const catalogModule = defineModule({
  name: 'catalog',
  basePaths: ['/api/products', '/api/categories', '/api/catalog'],
  requires: {},
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async () => {
    const api: CatalogApi = { offers: async ids => ids.map(() => undefined), requireVariant: async () => {} }
    return { api }
  }
})
