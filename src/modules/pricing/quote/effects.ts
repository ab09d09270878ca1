import { shareOf } from '../../../kernel/money.ts'
import { allocate } from './allocate.ts'
import { sumOf } from './components.ts'
import type { Amounts, Effect, Promotion } from './input.ts'
import type { Target } from './targets.ts'

/** What a promotion would take off these if there were no other. */
export function savingAlone({ class: of, effect }: Promotion, currency: string, targets: readonly Target[]) {
  const savingOf = (amountMinor: number, units: number) => savingOn(effect, currency, amountMinor, units)
  return of === 'order'
    ? savingOf(
        sumOf(targets, target => target.fullMinor),
        1
      )
    : sumOf(targets, target => savingOf(target.fullMinor, target.units))
}

/** What a promotion takes off each of these, given what they cost by now. Never more than that. */
export function savingsOf(
  { class: of, effect }: Promotion,
  currency: string,
  targets: readonly Target[]
): number[] {
  if (of !== 'order')
    return targets.map(({ leftMinor, units }) => savingOn(effect, currency, leftMinor, units))
  const left = targets.map(target => target.leftMinor)
  const amountMinor = sumOf(left, each => each)
  return allocate(savingOn(effect, currency, amountMinor, 1), left)
}

function savingOn(effect: Effect, currency: string, amountMinor: number, units: number): number {
  switch (effect.type) {
    case 'percentage':
      return shareOf(amountMinor, effect.ppm)
    case 'amount':
      return Math.min(amountMinor, amountIn(effect.minor, currency) * units)
    case 'fixed_price':
      return Math.max(0, amountMinor - amountIn(effect.minor, currency) * units)
    case 'free_shipping':
      return amountMinor
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
