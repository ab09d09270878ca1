import { shareOf } from '../../../kernel/money.ts'
import { allocate } from './allocate.ts'
import { sumOf } from './components.ts'
import type { Amounts, Effect, Promotion } from './input.ts'

/** What a promotion takes off things that cost so much, of so many units each. Never more than they cost. */
export function savingsOf(
  { class: of, effect }: Promotion,
  currency: string,
  amounts: readonly number[],
  units: readonly number[]
): number[] {
  if (of !== 'order')
    return amounts.map((amount, index) => savingOn(effect, currency, amount, units[index] ?? 1))
  const amount = sumOf(amounts, each => each)
  return allocate(savingOn(effect, currency, amount, 1), amounts)
}

function savingOn(effect: Effect, currency: string, amount: number, units: number): number {
  switch (effect.type) {
    case 'percentage':
      return shareOf(amount, effect.ppm)
    case 'amount':
      return Math.min(amount, amountIn(effect.minor, currency) * units)
    case 'fixed_price':
      return Math.max(0, amount - amountIn(effect.minor, currency) * units)
    case 'free_shipping':
      return amount
  }
}

/** Whether the effect is told in this currency. */
export const holdsIn = (effect: Effect, currency: string): boolean =>
  !('minor' in effect) || effect.minor[currency] !== undefined

function amountIn(amounts: Amounts, currency: string): number {
  const amount = amounts[currency]
  if (amount === undefined) throw new Error(`A promotion was taken that says no amount in ${currency}`)
  return amount
}
