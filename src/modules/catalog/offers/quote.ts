import type { BuyingRule } from '../../../kernel/buying-rule.ts'
import type { Queryable } from '../../../platform/postgres/database.ts'
import type { Market } from '../../pricing/index.ts'
import { priceable, priceIn } from '../discounts/pricing.ts'
import type { ListPrices } from '../list-prices/service.ts'
import * as repository from './repository.ts'
import type { Wanted } from './service.ts'
import { variantNameOf } from './variant-name.ts'

/** What an order keeps of a variant, and all that its price depends on. */
export type QuotedVariant = {
  readonly variantId: string
  readonly productId: string
  /** Those of the product, with all that lie above them. */
  readonly categoryIds: readonly string[]
  /** Of the product. */
  readonly name: string
  /** What tells it from the others of its product; empty where there is nothing to tell. */
  readonly variantName: string
  readonly slug: string
  readonly sku: string
  readonly imageUrl: string | null
  readonly attributes: Readonly<Record<string, string>>
  readonly rule: BuyingRule
  /** 0 when nobody said so. */
  readonly weightGrams: number
  readonly requiresShipping: boolean
  readonly taxCategory: string | null
  /** Whether it is on sale anywhere. */
  readonly isActive: boolean
  /** What one of so many costs in the market, in its currency; null: it has no price there. */
  readonly price: { readonly minor: number; readonly discountedMinor: number } | null
}

type Deps = { listPrices: Pick<ListPrices, 'pricesIn'>; currency: string }

/** See `CatalogApi.quote`. */
export const createQuote =
  ({ listPrices, currency }: Deps) =>
  async (
    db: Queryable,
    wanted: readonly Wanted[],
    market: Market | null
  ): Promise<(QuotedVariant | undefined)[]> => {
    const ids = wanted.map(({ variantId }) => variantId)
    const [rows, listed] = await Promise.all([
      db.rows(repository.quoteVariants, { ids }),
      listPrices.pricesIn(db, market, wanted)
    ])
    const rowOf = new Map(rows.map(row => [row.id, row]))
    return ids.map((id, index) => {
      const row = rowOf.get(id)
      return row && variantOf(row, priceOf(row, listed[index], market?.currency ?? currency, currency))
    })
  }

/** At the price of the market's list, else at its own; that is never converted, and what is not in the shop's is not sold. */
function priceOf(
  row: repository.QuoteRow,
  listed: number | undefined,
  currency: string,
  shopCurrency: string
): QuotedVariant['price'] {
  if (row.currency !== shopCurrency) return null
  const priced = priceIn(priceable(row, shopCurrency), listed, currency)
  return priced === undefined ? null : { minor: priced.price, discountedMinor: priced.discountedPrice }
}

const variantOf = (row: repository.QuoteRow, price: QuotedVariant['price']): QuotedVariant => ({
  variantId: row.id,
  productId: row.product_id,
  categoryIds: row.category_ids,
  name: row.name,
  variantName: variantNameOf(row),
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
