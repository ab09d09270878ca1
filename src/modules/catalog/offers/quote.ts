import type { QuantityRule } from '../../../kernel/quantity-rule.ts'
import { sumQuantitiesByVariant } from '../../../kernel/variant-quantities.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Market } from '../../pricing/index.ts'
import { variantPriceInCurrency, variantPriceInputsOf } from '../discounts/pricing.ts'
import type { ProductPricesInPriceLists } from '../list-prices/service.ts'
import * as repository from './repository.ts'
import type { VariantQuantity } from './service.ts'

/** A variant with its price in a market and everything that an order stores of it. */
export type QuotedVariant = {
  readonly variantId: string
  readonly productId: string
  /** The categories of the product, and all categories above them. */
  readonly categoryIds: readonly string[]
  /** The name of the product. */
  readonly name: string
  /** The name of the variant within its product. Empty when it equals the name of the product. */
  readonly variantName: string
  readonly slug: string
  readonly sku: string
  readonly imageUrl: string | null
  readonly attributes: Readonly<Record<string, string>>
  readonly rule: QuantityRule
  /** Weight of a unit in grams; 0 when the weight is unknown. */
  readonly weightGrams: number
  readonly requiresShipping: boolean
  readonly taxCategory: string | null
  /** Whether the variant and its product are active. */
  readonly isActive: boolean
  /** Unit price at the requested quantity of the variant, in the currency of the market. Null: no price in this market. */
  readonly price: { readonly minor: number; readonly discountedMinor: number } | null
}

type Deps = { listPrices: Pick<ProductPricesInPriceLists, 'pricesIn'>; currency: string }

/** Implements `CatalogApi.quote`. */
export const createVariantQuoter =
  ({ listPrices, currency }: Deps) =>
  async (
    db: Queryable,
    wanted: readonly VariantQuantity[],
    market: Market | null
  ): Promise<(QuotedVariant | undefined)[]> => {
    const ids = wanted.map(({ variantId }) => variantId)
    const sums = sumQuantitiesByVariant(wanted)
    const summed = ids.map(variantId => ({ variantId, quantity: sums.get(variantId) ?? 0 }))
    const [rows, listed] = await Promise.all([
      db.rows(repository.listVariantsForQuote, { ids }),
      listPrices.pricesIn(db, market, summed)
    ])
    const rowOf = new Map(rows.map(row => [row.id, row]))
    return ids.map((id, index) => {
      const row = rowOf.get(id)
      return row && variantOf(row, priceOf(row, listed[index], market?.currency ?? currency, currency))
    })
  }

/**
 * Returns the price of the market's list, or the variant's own. Null when its currency is not that of the
 * shop.
 */
function priceOf(
  row: repository.QuotedVariantRow,
  listed: number | undefined,
  currency: string,
  shopCurrency: string
): QuotedVariant['price'] {
  if (row.currency !== shopCurrency) return null
  const priced = variantPriceInCurrency(variantPriceInputsOf(row, shopCurrency), listed, currency)
  return priced === undefined ? null : { minor: priced.price, discountedMinor: priced.discountedPrice }
}

const variantOf = (row: repository.QuotedVariantRow, price: QuotedVariant['price']): QuotedVariant => ({
  variantId: row.id,
  productId: row.product_id,
  categoryIds: row.category_ids,
  name: row.name,
  variantName: repository.variantNameWithinProduct(row),
  slug: row.slug,
  sku: row.sku,
  imageUrl: row.image_url,
  attributes: row.attributes,
  rule: { min: row.quantity_min, max: row.quantity_max, step: row.quantity_step },
  weightGrams: row.weight_grams ?? 0,
  requiresShipping: row.requires_shipping,
  taxCategory: row.tax_category,
  isActive: row.is_active,
  price
})
