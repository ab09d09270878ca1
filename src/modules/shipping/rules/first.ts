import { newId } from '../../../kernel/ids.ts'
import type { Changes } from '../../../platform/kept.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { insertMethod } from '../methods/repository.ts'
import type { Method, Rate } from '../rates/options.ts'
import { insertRate } from '../rates/repository.ts'
import { insertZone } from '../zones/repository.ts'
import { areThereRules, lockRules } from './repository.ts'

type FirstRate = Pick<Rate, 'price' | 'freeFromMinor'> & {
  /** The name of the zone. */
  readonly zone: string | null
}
type FirstMethod = Pick<Method, 'kind' | 'provider' | 'service' | 'estimatedDays'> & {
  readonly rates: readonly FirstRate[]
}
/** What a shop begins with, in its currency. */
export type FirstRules = {
  /** Countries, or `*`, by the names of zones. */
  readonly zones: Readonly<Record<string, string>>
  /** In their order. */
  readonly methods: readonly FirstMethod[]
}

type Deps = { db: Database; changes: Changes; currency: string }

/** See `ShippingApi.createFirst`. */
export const createFirstRules = (
  { db, changes, currency }: Deps,
  { zones, methods }: FirstRules
): Promise<boolean> =>
  db.transaction(async tx => {
    await tx.run(lockRules)
    if ((await tx.first(areThereRules))?.are_there) return false
    const zoneIds = new Map(Object.keys(zones).map(name => [name, newId()]))
    for (const [name, id] of zoneIds) {
      const areas = [{ country: zones[name] ?? '', region: null, postalCode: null }]
      await tx.run(insertZone, { id, name, areas })
    }
    for (const method of methods) await insertFirst(tx, method, zoneIds, currency)
    changes.announce(tx)
    return true
  })

async function insertFirst(
  tx: Transaction,
  { kind, provider, service, estimatedDays, rates }: FirstMethod,
  zoneIds: ReadonlyMap<string, string>,
  currency: string
): Promise<void> {
  const id = newId()
  await tx.run(insertMethod, {
    ...{ id, kind, provider, service, tax_category: null, active: true, position: null },
    days_min: estimatedDays?.min ?? null,
    days_max: estimatedDays?.max ?? null
  })
  for (const { zone, price, freeFromMinor } of rates) {
    await tx.run(insertRate, {
      ...{ id: newId(), method_id: id, kind, currency, free_from_minor: freeFromMinor },
      zone_id: zone === null ? null : (zoneIds.get(zone) ?? null),
      amount_minor: typeof price === 'number' ? price : null,
      price_table: typeof price === 'number' ? null : price
    })
  }
}
