import type { DeliveryDestination } from '../../../kernel/areas.ts'
import type { QuoteDeliveryGroup, QuoteLine, QuoteShippingOption } from './input.ts'
import { STANDARD_TAX_CATEGORY } from './input.ts'

/** A line or delivery that promotions and taxes apply to. */
export type LineOrDeliveryDiscountTarget = {
  /** Key of its components. */
  readonly key: { readonly line: string } | { readonly group: string }
  readonly units: number
  readonly taxCategory: string
  readonly group: QuoteDeliveryGroup
  /** Price before promotions. */
  readonly fullMinor: number
  /** Price after the promotions applied so far. */
  leftMinor: number
  /** Number of promotions applied. */
  promotions: number
}
export type DiscountTargetLine = LineOrDeliveryDiscountTarget & { readonly line: QuoteLine }
export type ChosenDeliveryDiscountTarget = LineOrDeliveryDiscountTarget & {
  readonly option: QuoteShippingOption
  /** Whether no other option of the delivery is cheaper. */
  readonly isCheapest: boolean
}

export function createDiscountTargetLine(line: QuoteLine, group: QuoteDeliveryGroup): DiscountTargetLine {
  const { key, quantity: units, discountedPriceMinor, taxCategory } = line
  const fullMinor = discountedPriceMinor * units
  return {
    line,
    key: { line: key },
    units,
    taxCategory: taxCategory ?? STANDARD_TAX_CATEGORY,
    group,
    fullMinor,
    leftMinor: fullMinor,
    promotions: 0
  }
}

/** `options`: all offered options, cheapest first. */
export function createDiscountTargetDelivery(
  group: QuoteDeliveryGroup,
  option: QuoteShippingOption,
  options: readonly QuoteShippingOption[]
): ChosenDeliveryDiscountTarget {
  const { amountMinor: fullMinor } = option
  return {
    option,
    isCheapest: fullMinor === options[0]?.amountMinor,
    key: { group: group.key },
    units: 1,
    taxCategory: option.taxCategory ?? STANDARD_TAX_CATEGORY,
    group,
    fullMinor,
    leftMinor: fullMinor,
    promotions: 0
  }
}

/** Returns the destination of a group in the form of areas. */
export function destinationOfDeliveryGroup({ destination }: QuoteDeliveryGroup): DeliveryDestination | null {
  if (destination === null) return null
  const { country, region, postalCode } = destination
  return { country, region: region ?? undefined, postalCode: postalCode ?? undefined }
}
