import { multiplyByRatePpm } from '../../../kernel/money.ts'
import { sumBy } from '../../../kernel/sum-by.ts'
import { allocateAmountByWeight } from './allocate.ts'
import type { AmountsByCurrency, Promotion, PromotionEffect } from './input.ts'
import type { LineOrDeliveryDiscountTarget } from './targets.ts'

/** Returns the total discount of a promotion as if no other promotion applied. */
export function discountWithoutOtherPromotions(
  { class: of, effect }: Promotion,
  currency: string,
  targets: readonly LineOrDeliveryDiscountTarget[]
) {
  const savingOf = (amountMinor: number, units: number) => savingOn(effect, currency, amountMinor, units)
  return of === 'order'
    ? savingOf(
        sumBy(targets, target => target.fullMinor),
        1
      )
    : sumBy(targets, target => savingOf(target.fullMinor, target.units))
}

/**
 * Returns the discount of a promotion on each target. It never exceeds the price that earlier promotions
 * left.
 */
export function discountPerTarget(
  { class: of, effect }: Promotion,
  currency: string,
  targets: readonly LineOrDeliveryDiscountTarget[]
): number[] {
  if (of !== 'order')
    return targets.map(({ leftMinor, units }) => savingOn(effect, currency, leftMinor, units))
  const left = targets.map(target => target.leftMinor)
  const amountMinor = sumBy(left, each => each)
  return allocateAmountByWeight(savingOn(effect, currency, amountMinor, 1), left)
}

function savingOn(effect: PromotionEffect, currency: string, amountMinor: number, units: number): number {
  switch (effect.type) {
    case 'percentage':
      return multiplyByRatePpm(amountMinor, effect.ppm)
    case 'amount':
      return Math.min(amountMinor, amountIn(effect.minor, currency) * units)
    case 'fixed_price':
      return Math.max(0, amountMinor - amountIn(effect.minor, currency) * units)
    case 'free_shipping':
      return amountMinor
  }
}

/** Returns whether the effect has an amount in this currency. */
export const hasEffectAmountInCurrency = (effect: PromotionEffect, currency: string): boolean =>
  !('minor' in effect) || effect.minor[currency] !== undefined

function amountIn(amounts: AmountsByCurrency, currency: string): number {
  const amount = amounts[currency]
  if (amount === undefined) throw new Error(`The promotion has no amount in ${currency}`)
  return amount
}
