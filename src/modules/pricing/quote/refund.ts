import { fractionOf } from '../../../kernel/money.ts'
import type { Component } from './components.ts'

/** Some units of a line, by their place: from 0 up to `quantity`, without `to` itself. */
type Units = { readonly quantity: number; readonly from: number; readonly to: number }

/**
 * What of a line's components its units from one to another cost: what is due up to the later one less what is due up to the
 * earlier one, so that all parts of a line are the line, however it is cut. Components are rounded by what they add to those
 * before them: units never cost less than nothing, and net and tax of each part are its gross.
 */
export function componentsOfUnits(
  components: readonly Component[],
  { quantity, from, to }: Units
): Component[] {
  const upTo = (amountMinor: number, units: number) =>
    Math.sign(amountMinor) * fractionOf(Math.abs(amountMinor), units, quantity)
  const partOf = (amountMinor: number) => upTo(amountMinor, to) - upTo(amountMinor, from)
  let payableMinor = 0
  return components.map(component => {
    const { baseMinor, included } = component
    const before = included ? (baseMinor ?? 0) : payableMinor
    const amountMinor = partOf(before + component.amountMinor) - partOf(before)
    if (!included) payableMinor += component.amountMinor
    const base = baseMinor === undefined ? {} : { baseMinor: partOf(baseMinor) }
    return { ...component, ...base, amountMinor }
  })
}
