import type { DomainError } from '../../../kernel/errors.ts'
import { isAllowedQuantity, type QuantityRule, withoutMinAndStep } from '../../../kernel/quantity-rule.ts'
import type { CatalogApi } from '../../catalog/index.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import type { Market } from '../../pricing/index.ts'
import { insufficientStockError, quantityRuleBrokenError, variantUnavailableError } from '../errors.ts'
import { type CartLine, isSplittable, quantityOfVariant } from './lines.ts'

type Deps = { catalog: CatalogApi; inventory: Pick<InventoryApi, 'available'> | undefined }

/** Creates the function that reads what a quantity of a variant is checked against. */
export function createCartQuantityCheck({ catalog, inventory }: Deps) {
  /**
   * Reads offer and stock, before the cart is locked. Returns the check of the variant's quantity in all its lines, which runs
   * only when the request was not applied before. A quantity that does not grow may exceed stock and maximum.
   */
  return async (variantId: string, market: Market | null) => {
    const [[offer], stock] = await Promise.all([
      catalog.offers([{ variantId, quantity: 1 }], market),
      inventory?.available([variantId])
    ])
    /** @throws `CART_VARIANT_UNAVAILABLE`, `CART_QUANTITY_RULE`, `CART_INSUFFICIENT_STOCK` */
    return async (before: readonly CartLine[], after: readonly CartLine[]): Promise<void> => {
      const quantity = quantityOfVariant(after, variantId)
      const grows = quantity > quantityOfVariant(before, variantId)
      if (offer === undefined) throw await unavailableError(variantId)
      const rule = isSplittable(after, variantId) ? withoutMinAndStep(offer.rule) : offer.rule
      if (!isAllowedQuantity(quantity, grows ? rule : { ...rule, max: null }))
        throw quantityRuleError(offer.rule)
      const available = stock?.[0] ?? null
      if (grows && available !== null && quantity > available)
        throw insufficientStockError({ details: { available } })
    }
  }

  /**
   * Returns the error for a variant that is not for sale. @throws `CATALOG_VARIANT_NOT_FOUND` when it does
   * not exist.
   */
  async function unavailableError(variantId: string): Promise<DomainError> {
    await catalog.requireVariant(variantId)
    return variantUnavailableError()
  }
}

const quantityRuleError = ({ min, max, step }: QuantityRule): DomainError =>
  quantityRuleBrokenError({ details: { quantity_min: min, quantity_max: max, quantity_step: step } })
