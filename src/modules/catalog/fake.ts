import { newId } from '../../kernel/ids.ts'
import type { QuantityRule } from '../../kernel/quantity-rule.ts'
import { productNotFoundError, variantNotFoundError } from './errors.ts'
import type { CatalogApi, Offer, QuotedVariant } from './index.ts'

const CURRENCY = 'USD'
const WITHOUT_METADATA = {
  updateMetadata: () => Promise.reject(new Error('a catalog in memory has no metadata'))
}

export type FakeProduct = {
  variantId?: string
  name?: string
  price?: number
  discountedPrice?: number
  attributes?: Record<string, string>
  rule?: QuantityRule
  weightGrams?: number
  requiresShipping?: boolean
  categoryIds?: string[]
  taxCategory?: string | null
}
/** A catalog in memory with the contract of `CatalogApi`, for tests of modules that use it. */
export type FakeCatalog = CatalogApi & {
  /** Adds a variant that is for sale, or replaces it, and returns its id. */
  sell(product?: FakeProduct): string
  /** Ends the sale of a variant. The variant still exists. */
  withdraw(variantId: string): void
}

/**
 * Creates a catalog in memory. It sells what the test adds with `sell`.
 * @example
 * const fake = fakeCatalog()
 * const mug = fake.sell({ price: 1_250 })
 * const [offer] = await fake.offers([{ variantId: mug, quantity: 1 }], null)
 * assert.equal(offer?.price, 1_250)
 */
export function fakeCatalog(): FakeCatalog {
  const offers = new Map<string, Offer>()
  const known = new Map<string, QuotedVariant>()
  const isIn = (market: { currency: string } | null, currency: string | undefined) =>
    market === null || market.currency === currency
  return {
    offers: async (wanted, market) =>
      wanted.map(({ variantId }) => {
        const offer = offers.get(variantId)
        return isIn(market, offer?.currency) ? offer : undefined
      }),
    quote: async (_db, wanted, market) =>
      wanted.map(({ variantId }) => {
        const variant = known.get(variantId)
        const price = isIn(market, CURRENCY) ? (variant?.price ?? null) : null
        return variant && { ...variant, price, isActive: offers.has(variantId) }
      }),
    findBySku: async skus =>
      skus.map(sku => {
        const variant = [...known.values()].find(each => each.sku === sku)
        return (
          variant && {
            variantId: variant.variantId,
            productId: variant.productId,
            isActive: offers.has(variant.variantId)
          }
        )
      }),
    names: async variantIds => variantIds.map(id => known.get(id)?.name ?? null),
    requireVariant: async variantId => {
      if (!known.has(variantId)) throw variantNotFoundError()
    },
    requireProduct: async idOrSlug => {
      const isMeant = ({ productId, slug }: QuotedVariant) => productId === idOrSlug || slug === idOrSlug
      const variant = [...known.values()].find(each => isMeant(each) && offers.has(each.variantId))
      if (variant === undefined) throw productNotFoundError()
      return variant.productId
    },
    products: WITHOUT_METADATA,
    variants: WITHOUT_METADATA,
    categories: WITHOUT_METADATA,
    importCsv: () => Promise.reject(new Error('a catalog in memory has no import')),
    exportCsv: () => {
      throw new Error('a catalog in memory has no export')
    },
    isEmpty: async () => offers.size === 0,
    findOtherCurrency: async () => undefined,
    someOffers: async limit => [...offers.values()].slice(0, limit),
    sell: product => {
      const offer = createFakeVariantOffer(product)
      offers.set(offer.variantId, offer)
      known.set(offer.variantId, quotedOf(offer, product))
      return offer.variantId
    },
    withdraw: variantId => {
      offers.delete(variantId)
    }
  }
}

function quotedOf(offer: Offer, { categoryIds = [], taxCategory = null }: FakeProduct = {}): QuotedVariant {
  const { variantId, rule, weightGrams, requiresShipping, price, discountedPrice } = offer
  const { product_id, name, variant_name: variantName, slug, sku, attributes } = JSON.parse(`{${offer.json}}`)
  return {
    variantId,
    productId: product_id,
    categoryIds,
    name,
    variantName,
    slug,
    sku,
    imageUrl: null,
    attributes,
    rule,
    weightGrams,
    requiresShipping,
    taxCategory,
    isActive: true,
    price: { minor: price, discountedMinor: discountedPrice }
  }
}

/** Creates an offer as the catalog does. */
export function createFakeVariantOffer({
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
    variant_name: Object.values(attributes).join(' / '),
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
    currency: CURRENCY,
    rule,
    weightGrams,
    requiresShipping,
    json: JSON.stringify(fields).slice(1, -1)
  }
}
