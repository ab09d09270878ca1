import type { TakeContestedStockRequest, UnpaidOrderStockClaim } from '../../inventory/index.ts'

type Victim = TakeContestedStockRequest['victims'][number]
/** An unpaid order, which can lose units to a paid one. */
export type EvictableOrder = {
  readonly id: string
  /** A keyed hash of the client network of the order. Null: the network is unknown. */
  readonly network: string | null
  readonly isVerified: boolean
  /** The protected units of the order. Null: the order can lose all of its units. */
  readonly protection: StockEvictionProtectedUnits | null
}
type Line = { readonly variantId: string; readonly units: number }
/** Units of the order's lines, plus units of earlier orders that share the same protected units. */
export type StockEvictionProtectedUnits = { readonly before: number; readonly lines: readonly Line[] }
type Ranked = Victim & { readonly claims: readonly UnpaidOrderStockClaim[] }

/**
 * Sorts orders by the sequence in which they lose units. Unverified buyers come first, then networks with
 * the most claimed units, then the newest orders. `keep` has the units that an order does not lose.
 */
export function rankEvictableOrders(
  claims: readonly UnpaidOrderStockClaim[],
  orders: readonly EvictableOrder[],
  protectedUnits: number
): Ranked[] {
  const claimsOf = Map.groupBy(claims, ({ owner }) => owner)
  const unitsOf = (id: string) => sum(claimsOf.get(id) ?? [])
  const byNetwork = Map.groupBy(orders, ({ network }) => network)
  const networkUnits = new Map(
    [...byNetwork].map(([network, of]) => [network, of.reduce((units, { id }) => units + unitsOf(id), 0)])
  )
  const weightOf = ({ network }: EvictableOrder) => (network === null ? 0 : (networkUnits.get(network) ?? 0))
  return orders
    .toSorted(
      (a, b) =>
        Number(a.isVerified) - Number(b.isVerified) ||
        weightOf(b) - weightOf(a) ||
        compare(a.network ?? '', b.network ?? '') ||
        compare(b.id, a.id)
    )
    .map(order => {
      const of = claimsOf.get(order.id) ?? []
      return { owner: order.id, claims: of, keep: keptOf(of, order, protectedUnits) }
    })
}

/**
 * The protection of each order. Orders with the same key share their protected units, in the given sequence.
 */
export function stockEvictionProtectionsOf<
  T extends { readonly id: string; readonly lines: readonly Line[] }
>(orders: readonly T[], keyOf: (order: T) => string | null): Map<string, StockEvictionProtectedUnits> {
  const units = new Map<string | null, number>()
  return new Map(
    orders.map(order => {
      const before = units.get(keyOf(order)) ?? 0
      units.set(
        keyOf(order),
        order.lines.reduce((sum, line) => sum + line.units, before)
      )
      return [order.id, { before, lines: order.lines }]
    })
  )
}

/** The protected units of an order. */
function keptOf(
  claims: readonly UnpaidOrderStockClaim[],
  { protection }: EvictableOrder,
  protectedUnits: number
): Victim['keep'] {
  if (protection === null) return []
  let rest = Math.max(0, protectedUnits - protection.before)
  const kept = new Map<string, number>()
  for (const { variantId, units } of protection.lines) {
    const share = Math.min(rest, units)
    rest -= share
    kept.set(variantId, (kept.get(variantId) ?? 0) + share)
  }
  const isProtected = protection.before < protectedUnits
  const unitsOf = (itemId: string) =>
    protection.lines.reduce((units, line) => (line.variantId === itemId ? units + line.units : units), 0)
  return claims.flatMap(({ itemId, quantity }) => {
    // Parts of kits are not divided: which of them belong to a protected unit is not known here.
    const isOfKit = quantity > unitsOf(itemId)
    const keep = isProtected && isOfKit ? quantity : (kept.get(itemId) ?? 0)
    return keep > 0 ? [{ itemId, quantity: keep }] : []
  })
}

/** Units of each item that these orders can lose. */
export function evictableUnitsByItem(ranked: readonly Ranked[]): Map<string, number> {
  const units = new Map<string, number>()
  for (const each of ranked) addEvictable(units, each)
  return units
}

/** The first orders that together can lose the units of `parts`, and `spare` more of each item. */
export function selectOrdersToEvict(
  ranked: readonly Ranked[],
  parts: readonly { readonly itemId: string; readonly quantity: number }[],
  spare: number
): readonly Ranked[] {
  const units = new Map<string, number>()
  const end = ranked.findIndex(each => {
    const isEnough = parts.every(({ itemId, quantity }) => (units.get(itemId) ?? 0) >= quantity + spare)
    if (!isEnough) addEvictable(units, each)
    return isEnough
  })
  return end < 0 ? ranked : ranked.slice(0, end)
}

function addEvictable(units: Map<string, number>, { claims, keep }: Ranked): void {
  for (const { itemId, quantity } of claims) {
    const kept = keep.find(part => part.itemId === itemId)?.quantity ?? 0
    units.set(itemId, (units.get(itemId) ?? 0) + Math.max(0, quantity - kept))
  }
}

const sum = (claims: readonly UnpaidOrderStockClaim[]) =>
  claims.reduce((units, { quantity }) => units + quantity, 0)
const compare = (a: string, b: string) => (a < b ? -1 : Number(a > b))
