import { allocateAmountByWeight } from './allocate.ts'
import type { PriceComponent } from './components.ts'
import type { QuoteLine } from './input.ts'

/** Lines of one variant in key order, and their sum: a line with the key of the first and all units. */
export type MergedVariantLines = { readonly sum: QuoteLine; readonly lines: readonly QuoteLine[] }

/**
 * Merges lines that differ in key and quantity only. The result is sorted by variant, so it does not depend on how
 * the quantity of a variant is split into lines. `lines`: in key order.
 */
export function mergeEqualQuoteLines(lines: readonly QuoteLine[]): MergedVariantLines[] {
  const ofVariant = new Map<string, { sum: QuoteLine; lines: QuoteLine[] }[]>()
  for (const line of lines) {
    const others = ofVariant.get(line.variantId)
    const same = others?.find(({ sum }) => isSameButForQuantity(sum, line))
    if (same !== undefined) {
      same.sum = { ...same.sum, quantity: same.sum.quantity + line.quantity }
      same.lines.push(line)
    } else {
      const added = { sum: line, lines: [line] }
      if (others === undefined) ofVariant.set(line.variantId, [added])
      else others.push(added)
    }
  }
  return [...ofVariant.values()].flat().sort((a, b) => compare(a.sum, b.sum))
}

function isSameButForQuantity(one: QuoteLine, other: QuoteLine): boolean {
  const { key: _, quantity: __, categoryIds, ...fields } = one
  const names = Object.keys(fields) as (keyof typeof fields)[]
  return names.every(name => one[name] === other[name]) && hasSameCategories(categoryIds, other.categoryIds)
}

/** Lines of one variant usually share the array, and comparing its ids takes quadratic time. */
const hasSameCategories = (one: readonly string[], other: readonly string[]): boolean =>
  one === other || (one.length === other.length && one.every(id => other.includes(id)))

const compare = (a: QuoteLine, b: QuoteLine): number =>
  compareText(a.variantId, b.variantId) || compareText(a.group, b.group) || compareText(a.key, b.key)
const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1)

/**
 * Splits components of sums into components of their lines. Prices are split by quantity, discounts and taxes by
 * what earlier discounts left of each line, so no line gets more discount than it costs. Components that belong
 * to a single line are returned as they are.
 */
export function splitPriceComponentsAmongLines(
  components: readonly PriceComponent[],
  merged: readonly MergedVariantLines[]
): readonly PriceComponent[] {
  const splits = new Map(
    merged.flatMap(({ sum, lines }) => (lines.length === 1 ? [] : [[sum.key, createSplit(lines)]]))
  )
  if (splits.size === 0) return components
  return components.flatMap(component => splits.get(component.line ?? '')?.(component) ?? [component])
}

/** Creates a function that splits the components of one variant, which come in the order of a quote. */
function createSplit(lines: readonly QuoteLine[]): (component: PriceComponent) => PriceComponent[] {
  let left: readonly number[] = lines.map(({ quantity }) => quantity)
  return component => {
    const { kind, amountMinor, baseMinor, included } = component
    const parts = allocateAmountByWeight(Math.abs(amountMinor), left)
    if (kind === 'item') left = parts
    if (kind === 'discount') left = left.map((each, index) => each - (parts[index] ?? 0))
    return lines.flatMap(({ key }, index): PriceComponent[] => {
      const [part = 0, price = 0] = [parts[index], left[index]]
      if (kind === 'discount' && part === 0) return []
      return [
        {
          ...component,
          line: key,
          amountMinor: amountMinor < 0 ? 0 - part : part,
          ...(baseMinor !== undefined && { baseMinor: included ? price - part : price })
        }
      ]
    })
  }
}
