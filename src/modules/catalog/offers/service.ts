import type { QuantityRule } from '../../../kernel/quantity-rule.ts'
import { RecentlyUsedMap } from '../../../kernel/recently-used-map.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import {
  type CatalogVariantDiscount,
  calculateCurrentVariantPrice,
  isDiscountRunning
} from '../discounts/pricing.ts'
import { type CatalogChangePublisher, catalogCacheDeadlineOf } from '../revision/changes.ts'
import * as repository from './repository.ts'

/** The rule of variants without limits. Shared, because nearly all variants have it. */
const ANY_QUANTITY: QuantityRule = Object.freeze({ min: 1, max: null, step: 1 })

/** A variant and the quantity to price. The unit price can depend on the quantity. */
export type VariantQuantity = { readonly variantId: string; readonly quantity: number }

/**
 * The present offer of a variant. Amounts in minor units of `currency`.
 * @example
 * const isReduced = ({ price, discountedPrice }: Offer): boolean => discountedPrice < price
 */
export type Offer = {
  readonly variantId: string
  readonly price: number
  /** The price after discounts. Equals `price` when no discount is active. */
  readonly discountedPrice: number
  readonly currency: string
  readonly rule: QuantityRule
  /** Weight of a unit in grams; 0 when the weight is unknown. */
  readonly weightGrams: number
  readonly requiresShipping: boolean
  /**
   * The descriptive fields as JSON text without the outer braces, ready to be concatenated into a response:
   * `"variant_id":…,"product_id":…,"name":…,"variant_name":…,"slug":…,"sku":…,"price":…,"discounted_price":…,"image_url":…,"attributes":{…}`.
   */
  readonly json: string
}

/** A cached offer in the currency of the shop, with the inputs to reprice it for other markets. */
export type CachedVariantOffer = {
  readonly offer: Offer
  readonly salePrice: number | null
  readonly running: readonly CatalogVariantDiscount[]
  /** Where the price starts in the offer's JSON text, and where its discounted price ends. */
  readonly priceStart: number
  readonly discountedPriceEnd: number
  /** When the entry becomes stale, in milliseconds of the monotonic clock. */
  readonly deadline: number
}
export type VariantOfferCache = (
  wanted: readonly VariantQuantity[]
) => Promise<(CachedVariantOffer | undefined)[]>
const NONE_RUNNING: readonly CatalogVariantDiscount[] = Object.freeze([])

// Bytes of the key, the objects and their slot in the map, in a heap with 20,000 entries (2026-11).
const ENTRY_OVERHEAD_BYTES = 300
const PRICE = ',"price":'
const RULE_BYTES = 48
const ABSENT_MAX = 10_000

type Deps = { db: Queryable; changes: CatalogChangePublisher; currency: string; bytesMax: number }

/**
 * Creates a cache of offers in this process, because every read of a cart needs them. An entry is invalidated
 * when its variant changes, and at the next start or end of one of its discounts. The cache is bypassed while
 * messages about changes can be missed.
 */
export function createVariantOfferCache({ db, changes, currency, bytesMax }: Deps): VariantOfferCache {
  const cached = new RecentlyUsedMap<CachedVariantOffer>(
    bytesMax,
    ({ offer }) => bytesOf(offer.json) + ENTRY_OVERHEAD_BYTES + (offer.rule === ANY_QUANTITY ? 0 : RULE_BYTES)
  )
  // Variants that do not exist or are not for sale. A separate map, because any client can request many
  // unknown ids.
  const absent = new RecentlyUsedMap<true>(ABSENT_MAX)
  let generation = 0

  const clear = () => {
    generation += 1
    cached.clear()
    absent.clear()
  }
  changes.subscribe({
    onGap: clear,
    onChange: variantIds => {
      if (variantIds === 'all') return clear()
      generation += 1
      for (const id of variantIds) {
        cached.delete(id)
        absent.delete(id)
      }
    }
  })

  async function load(
    wanted: readonly VariantQuantity[],
    found: (CachedVariantOffer | undefined)[],
    missing: string[]
  ): Promise<(CachedVariantOffer | undefined)[]> {
    const startedAt = performance.now()
    const generationBefore = generation
    const rows = await db.rows(repository.listVariantOffers, { ids: missing, currency })
    const loaded = new Map<string, CachedVariantOffer>()
    for (const row of rows) loaded.set(row.id, cachedOfferOf(row, currency, startedAt))
    // Rows that were read before a change and arrive after its invalidation are stale, so they are not
    // cached.
    if (generation === generationBefore && changes.isLive()) {
      for (const id of missing) {
        const entry = loaded.get(id)
        if (entry === undefined) absent.set(id, true)
        // The key is the string of the entry, so that it is not in memory twice.
        else cached.set(entry.offer.variantId, entry)
      }
    }
    return wanted.map(({ variantId }, index) => found[index] ?? loaded.get(variantId))
  }

  // Not async, so that a full cache hit costs one promise only.
  return wanted => {
    const found: (CachedVariantOffer | undefined)[] = []
    const missing: string[] = []
    const isLive = changes.isLive()
    const now = performance.now()
    for (const { variantId: id } of wanted) {
      const entry = isLive ? cached.get(id) : undefined
      const isFresh = entry !== undefined && now < entry.deadline
      found.push(isFresh ? entry : undefined)
      if (!isFresh && !(isLive && absent.get(id))) missing.push(id)
    }
    return missing.length === 0 ? Promise.resolve(found) : load(wanted, found, missing)
  }
}

/** Bytes of a string in memory: one per character, or two when a character is not in Latin-1. */
const bytesOf = (text: string) => (/[^\x00-\xff]/.test(text) ? 2 : 1) * text.length

function cachedOfferOf(
  row: repository.VariantOfferRow,
  currency: string,
  loadedAt: number
): CachedVariantOffer {
  const discounts = row.discounts ?? []
  const { discountedPrice, changesIn } = calculateCurrentVariantPrice(
    row.price_minor,
    row.sale_price_minor,
    discounts
  )
  const running = discounts.filter(isDiscountRunning)
  const json = JSON.stringify({
    variant_id: row.id,
    product_id: row.product_id,
    name: row.name,
    variant_name: repository.variantNameWithinProduct(row),
    slug: row.slug,
    sku: row.sku,
    price: row.price_minor,
    discounted_price: discountedPrice,
    image_url: row.image_url,
    attributes: row.attributes
  })
  // The round trip through a buffer turns the concatenated text into one flat string. Reads of a rope cost
  // 1.4 times as much.
  const text = Buffer.from(json.slice(1, -1)).toString()
  // The search finds only the member name, because quotes in values are escaped.
  const priceStart = text.indexOf(PRICE) + PRICE.length
  return {
    offer: {
      variantId: row.id,
      price: row.price_minor,
      discountedPrice,
      currency,
      rule: ruleOf(row),
      weightGrams: row.weight_grams ?? 0,
      requiresShipping: row.requires_shipping,
      json: text
    },
    salePrice: row.sale_price_minor,
    priceStart,
    discountedPriceEnd: text.indexOf(',"image_url":', priceStart),
    running: running.length === 0 ? NONE_RUNNING : running,
    deadline: catalogCacheDeadlineOf(loadedAt, changesIn)
  }
}

const ruleOf = ({
  quantity_min: min,
  quantity_max: max,
  quantity_step: step
}: repository.VariantOfferRow): QuantityRule =>
  min === 1 && max === null && step === 1 ? ANY_QUANTITY : { min, max, step }
