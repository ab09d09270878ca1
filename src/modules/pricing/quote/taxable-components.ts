import { type QuoteMarket, UNTAXED_TAX_CATEGORY } from './input.ts'
import type { ChosenDeliveryDiscountTarget, DiscountTargetLine } from './targets.ts'
import { placeOfTaxation } from './tax.ts'

/**
 * An amount of a basket that is taxed: all units of a variant, or the delivery of a group.
 * @example
 * const isDelivery = ({ variantId }: TaxableComponent): boolean => variantId === null
 */
export type TaxableComponent = {
  /** Nulls: a delivery. */
  readonly variantId: string | null
  readonly productId: string | null
  readonly taxCategory: string
  /** Units of the variant; 1 for a delivery. */
  readonly quantity: number
  /** For all units, after all discounts, in minor units. */
  readonly amountMinor: number
  /** The place of taxation. Null: it is unknown, and the market has no country. */
  readonly destination: TaxDestination | null
}
type TaxDestination = {
  /** ISO 3166-1. */
  readonly country: string
  readonly region: string | null
  readonly postalCode: string | null
}

type TaxableTarget = DiscountTargetLine | ChosenDeliveryDiscountTarget

/** Describes the targets that are taxed, in their order. */
export const taxableComponentsOf = (
  targets: readonly TaxableTarget[],
  market: Pick<QuoteMarket, 'countries'>
): TaxableComponent[] =>
  targets
    .filter(({ taxCategory }) => taxCategory !== UNTAXED_TAX_CATEGORY)
    .map(target => {
      const place = placeOfTaxation(target.group, market)
      return {
        variantId: 'line' in target ? target.line.variantId : null,
        productId: 'line' in target ? target.line.productId : null,
        taxCategory: target.taxCategory,
        quantity: target.units,
        amountMinor: target.leftMinor,
        destination: place && {
          country: place.country,
          region: place.region ?? null,
          postalCode: place.postalCode ?? null
        }
      }
    })
