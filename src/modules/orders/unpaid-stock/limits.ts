/**
 * The buyers whose unpaid units a limit adds up: one buyer, one network, or all buyers without a verified
 * email address.
 */
export const UNPAID_STOCK_LIMIT_SCOPES = ['buyer', 'network', 'unverified'] as const
export type UnpaidStockLimitScope = (typeof UNPAID_STOCK_LIMIT_SCOPES)[number]
type Limit = {
  readonly unitsMax: number
  readonly sharePercent: number
  /** Units of a variant that are always allowed, whatever the share. */
  readonly unitsAlways: number
}
export type UnpaidStockLimits = Readonly<Record<UnpaidStockLimitScope, Limit>>

/** Units that unpaid orders reserve, by scope. Null: the scope does not apply to this order. */
export type UnpaidUnitsByScope = Readonly<Record<UnpaidStockLimitScope, number | null>>
export type UnpaidVariantUnits = {
  readonly variantId: string
  /** Units of the order that is checked. `reserved` and `by` include these units. */
  readonly requested: number
  /** Units that can still be bought. */
  readonly available: number
  /** Units that all unpaid orders reserve. */
  readonly reserved: number
  readonly by: UnpaidUnitsByScope
}
export type UnpaidStockLimitExcess = {
  readonly scope: UnpaidStockLimitScope
  /** The limit of units of all variants; undefined when a share is exceeded instead. */
  readonly limit: number | undefined
  /** Variants whose share is exceeded, and how many units are allowed. */
  readonly items: readonly {
    readonly variantId: string
    readonly requested: number
    readonly allowed: number
  }[]
}

/**
 * Returns the first limit that unpaid orders exceed, this one included; otherwise undefined. A share is of
 * the units that are available or reserved by unpaid orders. Paid units do not count.
 */
export function findExceededUnpaidStockLimit(
  totals: UnpaidUnitsByScope,
  variants: readonly UnpaidVariantUnits[],
  limits: UnpaidStockLimits
): UnpaidStockLimitExcess | undefined {
  for (const scope of UNPAID_STOCK_LIMIT_SCOPES) {
    const { unitsMax, sharePercent, unitsAlways } = limits[scope]
    const total = totals[scope]
    if (total === null) continue
    if (total > unitsMax) return { scope, limit: unitsMax, items: [] }
    const items = variants.flatMap(({ variantId, requested, available, reserved, by }) => {
      const share = Math.floor(((available + reserved) * sharePercent) / 100)
      const excess = (by[scope] ?? 0) - Math.max(unitsAlways, share)
      return excess > 0 ? [{ variantId, requested, allowed: Math.max(0, requested - excess) }] : []
    })
    if (items.length > 0) return { scope, limit: undefined, items }
  }
  return undefined
}

type LimitSettings = {
  readonly units_max: number
  readonly share_percent: number
  readonly units_always: number
}
const limitOf = (settings: LimitSettings): Limit => ({
  unitsMax: settings.units_max,
  sharePercent: settings.share_percent,
  unitsAlways: settings.units_always
})
/** Reads the limits from the settings. */
export const unpaidStockLimitsOf = (
  scopes: Record<UnpaidStockLimitScope, LimitSettings>
): UnpaidStockLimits => ({
  buyer: limitOf(scopes.buyer),
  network: limitOf(scopes.network),
  unverified: limitOf(scopes.unverified)
})
