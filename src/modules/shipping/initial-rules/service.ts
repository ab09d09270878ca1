import { newId } from '../../../kernel/ids.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { insertShippingMethod } from '../methods/repository.ts'
import { insertShippingRate } from '../rates/repository.ts'
import type { ShippingMethod, ShippingRate } from '../rules/options.ts'
import { hasShippingRules, lockShippingRules } from '../rules/repository.ts'
import { insertShippingZone } from '../zones/repository.ts'

type InitialRate = Pick<ShippingRate, 'price' | 'freeFromMinor'> & {
  /** Name of the zone. */
  readonly zone: string | null
}
type InitialMethod = Pick<ShippingMethod, 'kind' | 'provider' | 'service' | 'estimatedDays'> & {
  readonly rates: readonly InitialRate[]
}
/** The first zones, methods and rates of a shop, in its currency. */
export type InitialShippingRules = {
  /** Country of each zone, or `*`, by the zone's name. */
  readonly zones: Readonly<Record<string, string>>
  /** The shipping methods, in the order in which they are offered. */
  readonly methods: readonly InitialMethod[]
}

type Deps = { db: Database; invalidation: CacheInvalidator; currency: string }

/** See `ShippingApi.createInitialRules`. */
export const createInitialShippingRules = (
  { db, invalidation, currency }: Deps,
  { zones, methods }: InitialShippingRules
): Promise<boolean> =>
  db.transaction(async tx => {
    await tx.run(lockShippingRules)
    if ((await tx.first(hasShippingRules))?.are_there) return false
    const zoneIds = new Map(Object.keys(zones).map(name => [name, newId()]))
    for (const [name, id] of zoneIds) {
      const areas = [{ country: zones[name] ?? '', region: null, postalCode: null }]
      await tx.run(insertShippingZone, { id, name, areas })
    }
    for (const method of methods) await insertInitialMethod(tx, method, zoneIds, currency)
    invalidation.publish(tx)
    return true
  })

async function insertInitialMethod(
  tx: Transaction,
  { kind, provider, service, estimatedDays, rates }: InitialMethod,
  zoneIds: ReadonlyMap<string, string>,
  currency: string
): Promise<void> {
  const id = newId()
  await tx.run(insertShippingMethod, {
    id,
    kind,
    provider,
    service,
    tax_category: null,
    active: true,
    position: null,
    days_min: estimatedDays?.min ?? null,
    days_max: estimatedDays?.max ?? null
  })
  for (const { zone, price, freeFromMinor } of rates) {
    await tx.run(insertShippingRate, {
      id: newId(),
      method_id: id,
      kind,
      currency,
      free_from_minor: freeFromMinor,
      zone_id: zone === null ? null : (zoneIds.get(zone) ?? null),
      amount_minor: typeof price === 'number' ? price : null,
      price_table: typeof price === 'number' ? null : price
    })
  }
}
