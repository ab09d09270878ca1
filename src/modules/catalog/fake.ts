import { newId } from '../../kernel/ids.ts'
import { variantNotFound } from './errors.ts'
import type { BuyingRule, CatalogApi, Offer } from './index.ts'

export type FakeProduct = {
  variantId?: string
  name?: string
  price?: number
  discountedPrice?: number
  attributes?: Record<string, string>
  rule?: BuyingRule
  weightGrams?: number
  requiresShipping?: boolean
}
/** A catalog in memory that keeps the contract of `CatalogApi`, for tests of those who ask it. */
export type FakeCatalog = CatalogApi & {
  /** Puts a variant on sale (anew, if it is there) and answers its id. */
  sell(product?: FakeProduct): string
  /** The variant stays known, but is no longer sold. */
  withdraw(variantId: string): void
}

export function fakeCatalog(): FakeCatalog {
  const offers = new Map<string, Offer>()
  const names = new Map<string, string>()
  return {
    offers: async (wanted, market) =>
      wanted.map(({ variantId }) => {
        const offer = offers.get(variantId)
        return market === null || market.currency === offer?.currency ? offer : undefined
      }),
    names: async variantIds => variantIds.map(id => names.get(id) ?? null),
    requireVariant: async variantId => {
      if (!names.has(variantId)) throw variantNotFound()
    },
    importCsv: () => Promise.reject(new Error('nothing can be imported into a catalog in memory')),
    isEmpty: async () => offers.size === 0,
    findOtherCurrency: async () => undefined,
    someOffers: async limit => [...offers.values()].slice(0, limit),
    sell: product => {
      const offer = offerOf(product)
      offers.set(offer.variantId, offer)
      names.set(offer.variantId, JSON.parse(`{${offer.json}}`).name)
      return offer.variantId
    },
    withdraw: variantId => {
      offers.delete(variantId)
    }
  }
}

/** An offer as the catalog makes them. */
export function offerOf({
  variantId = newId(),
  name = 'Mug',
  price = 1_250,
  discountedPrice = price,
  attributes = { color: 'blue' },
  rule = { min: 1, max: null, step: 1 },
  weightGrams = 0,
  requiresShipping = true
}: FakeProduct = {}): Offer {
  const fields = {
    variant_id: variantId,
    product_id: newId(),
    name,
    slug: `product-${variantId.slice(-6)}`,
    sku: `SKU-${variantId.slice(-6)}`,
    price,
    discounted_price: discountedPrice,
    image_url: null,
    attributes
  }
  return {
    variantId,
    price,
    discountedPrice,
    currency: 'USD',
    rule,
    weightGrams,
    requiresShipping,
    json: JSON.stringify(fields).slice(1, -1)
  }
}
