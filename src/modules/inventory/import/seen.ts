import type { Said, StockRow } from './rows.ts'

/** Finds rows that say something else than rows above them. It keeps an entry for each variant and each count. */
export function createSeen() {
  const saidOf = new Map<string, Said>()
  const rowOf = new Map<string, number>()

  /** Why the row contradicts those above it; undefined: it does not. */
  return ({ row, variantId, sku, location, said, onHand, safety }: StockRow): string | undefined => {
    const variant = variantId ?? `sku ${sku}`
    const before = saidOf.get(variant) ?? {}
    if (contradicts(before, said)) return 'Rows above say otherwise how the variant is counted.'
    if (Object.keys(said).length > 0) saidOf.set(variant, { ...before, ...said })
    if (onHand === null && safety === null) return undefined
    const place = `${variant} ${location?.toLowerCase() ?? ''}`
    const counted = rowOf.get(place)
    if (counted !== undefined) return `Row ${counted} counts the same variant at the same location.`
    rowOf.set(place, row)
    return undefined
  }
}

const contradicts = (one: Said, other: Said) =>
  (Object.keys(other) as (keyof Said)[]).some(key => one[key] !== undefined && one[key] !== other[key])
