import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import {
  shippingMethodNotFoundError,
  shippingMethodStaleError,
  shippingRulesLimitReachedError
} from '../errors.ts'
import { lockShippingRules } from '../rules/repository.ts'
import { findCurrenciesWithoutShippingRate, type MarketCountriesAndCurrency } from './missing-rates.ts'
import * as repository from './repository.ts'
import {
  type CreateShippingMethodRequest,
  SHIPPING_METHODS_PER_SHOP_MAX,
  type ShippingMethodResponse,
  type UpdateShippingMethodRequest
} from './schema.ts'

type Deps = {
  db: Database
  invalidation: CacheInvalidator
  listMarkets: () => Promise<readonly MarketCountriesAndCurrency[]>
}

/** Shipping methods. Their prices are in rates. */
export function createShippingMethodService({ db, invalidation, listMarkets }: Deps) {
  async function list(query: PageQuery): Promise<Page<ShippingMethodResponse>> {
    const page = await readPage(query, {
      name: 'shipping methods',
      start: { position: 0, id: LOWEST_ID },
      rows: place => db.rows(repository.listShippingMethods, place),
      placeOf: ({ position, id }) => ({ position, id }),
      total: () => db.first(repository.countShippingMethods)
    })
    return { ...page, items: await withMissingRates(page.items) }
  }

  /** @throws `SHIPPING_METHOD_NOT_FOUND` */
  async function read(id: string): Promise<ShippingMethodResponse> {
    const row = found(await db.first(repository.findShippingMethod, { id }), shippingMethodNotFoundError)
    const [method] = await withMissingRates([row])
    return found(method, shippingMethodNotFoundError)
  }

  async function withMissingRates(
    rows: readonly repository.ShippingMethodRow[]
  ): Promise<ShippingMethodResponse[]> {
    const methods = rows.map(({ id }) => id)
    const [places, markets] = await Promise.all([
      db.rows(repository.listRatedZonesOfShippingMethods, { methods }),
      listMarkets()
    ])
    const placesOf = Map.groupBy(places, place => place.method_id)
    return rows.map(row => ({
      ...present(row),
      missing_rates: findCurrenciesWithoutShippingRate(row.kind, placesOf.get(row.id) ?? [], markets)
    }))
  }

  /** @throws `SHIPPING_DAYS_INVALID`, `SHIPPING_RULES_LIMIT` */
  async function create(
    body: CreateShippingMethodRequest,
    write: IdempotentWrite
  ): Promise<ShippingMethodResponse> {
    const { kind, service, estimated_days: days, provider = null, tax_category = null } = body
    const { active = true, position = null } = body
    await write.once(db, async tx => {
      await tx.run(lockShippingRules)
      const { total = 0 } = (await tx.first(repository.countShippingMethods)) ?? {}
      if (total >= SHIPPING_METHODS_PER_SHOP_MAX)
        throw shippingRulesLimitReachedError({ details: { limit: SHIPPING_METHODS_PER_SHOP_MAX } })
      await tx.run(repository.insertShippingMethod, {
        id: write.id,
        kind,
        provider,
        service,
        tax_category,
        active,
        position,
        days_min: days?.min ?? null,
        days_max: days?.max ?? null
      })
      invalidation.publish(tx)
    })
    return read(write.id)
  }

  /** @throws `SHIPPING_METHOD_NOT_FOUND`, `SHIPPING_METHOD_STALE`, `SHIPPING_DAYS_INVALID` */
  async function patch(
    id: string,
    body: UpdateShippingMethodRequest,
    write: IdempotentWrite
  ): Promise<ShippingMethodResponse> {
    const { estimated_days: days, ...fields } = body
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      if (isEmptyPatch(body)) return
      const estimate = days === undefined ? {} : { days_min: days?.min ?? null, days_max: days?.max ?? null }
      await tx.run(repository.updateShippingMethod, { ...stored, ...fields, ...estimate })
      invalidation.publish(tx)
    })
    return read(id)
  }

  /** Deletes a shipping method and its rates. @throws `SHIPPING_METHOD_NOT_FOUND`, `SHIPPING_METHOD_STALE` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      await lock(tx, id, write)
      await tx.run(repository.deleteShippingMethod, { id })
      invalidation.publish(tx)
    })
  }

  return { list, read, create, patch, remove }
}
export type ShippingMethodService = ReturnType<typeof createShippingMethodService>

/** Locks the method until `tx` ends. */
async function lock(
  tx: Transaction,
  id: string,
  write: IdempotentWrite
): Promise<repository.ShippingMethodRow> {
  await tx.run(lockShippingRules)
  const stored = found(await tx.first(repository.findShippingMethod, { id }), shippingMethodNotFoundError)
  write.expect(stored.version, shippingMethodStaleError)
  return stored
}

const present = ({ days_min: min, days_max: max, ...method }: repository.ShippingMethodRow) => ({
  ...method,
  estimated_days: min === null || max === null ? null : { min, max }
})
