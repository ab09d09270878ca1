/** Whose unpaid units are added up: one buyer's, those of one network, or those of all buyers without a verified address. */
export const SCOPES = ['buyer', 'network', 'unverified'] as const
export type Scope = (typeof SCOPES)[number]
type Limit = {
  readonly unitsMax: number
  readonly sharePercent: number
  /** Units of a variant that the share never refuses, however few there are. */
  readonly unitsAlways: number
}
export type UnpaidLimits = Readonly<Record<Scope, Limit>>

/** Units that unpaid orders reserve, by scope. Null: the scope does not apply to this order. */
export type UnitsByScope = Readonly<Record<Scope, number | null>>
export type VariantUnits = {
  readonly variantId: string
  /** Units in the order that is judged. They are part of all other figures but `available`. */
  readonly requested: number
  /** Units that can still be bought. */
  readonly available: number
  /** Units that all unpaid orders reserve. */
  readonly reserved: number
  readonly by: UnitsByScope
}
export type Excess = {
  readonly scope: Scope
  /** The limit of units of all variants; undefined when a share is exceeded instead. */
  readonly limit: number | undefined
  /** Variants of which the share is exceeded, and how many units would be allowed. */
  readonly items: readonly {
    readonly variantId: string
    readonly requested: number
    readonly allowed: number
  }[]
}

/**
 * Returns the first limit that unpaid orders exceed, this one included; undefined when there is none. A share counts against the
 * units that are free or reserved by unpaid orders: what is paid is not there to be taken.
 */
export function findExcess(
  totals: UnitsByScope,
  variants: readonly VariantUnits[],
  limits: UnpaidLimits
): Excess | undefined {
  for (const scope of SCOPES) {
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
/** The limits as the settings say them. */
export const limitsOf = (scopes: Record<Scope, LimitSettings>): UnpaidLimits => ({
  buyer: limitOf(scopes.buyer),
  network: limitOf(scopes.network),
  unverified: limitOf(scopes.unverified)
})
