import type { StockCsvRow, StockPolicyFields } from './rows.ts'

/** Finds rows of a stock file that contradict earlier rows. Keeps one entry per variant and per count. */
export function createStockCsvRowConflictFinder() {
  const saidOf = new Map<string, StockPolicyFields>()
  const rowOf = new Map<string, number>()

  /** Returns how the row contradicts earlier rows; undefined: it does not. */
  return ({
    row,
    variantId,
    sku,
    location,
    policy: said,
    onHand,
    safety
  }: StockCsvRow): string | undefined => {
    const variant = variantId ?? `sku ${sku}`
    const before = saidOf.get(variant) ?? {}
    if (contradicts(before, said)) return 'Earlier rows set another stock policy for the variant.'
    if (Object.keys(said).length > 0) saidOf.set(variant, { ...before, ...said })
    if (onHand === null && safety === null) return undefined
    const place = `${variant} ${location?.toLowerCase() ?? ''}`
    const counted = rowOf.get(place)
    if (counted !== undefined) return `Row ${counted} counts the same variant at the same location.`
    rowOf.set(place, row)
    return undefined
  }
}

const contradicts = (one: StockPolicyFields, other: StockPolicyFields) =>
  (Object.keys(other) as (keyof StockPolicyFields)[]).some(
    key => one[key] !== undefined && one[key] !== other[key]
  )
