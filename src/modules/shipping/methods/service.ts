import { found } from '../../../kernel/errors.ts'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Invalidation } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { methodNotFound, methodStale, rulesLimit } from '../errors.ts'
import { lockRules } from '../rules/repository.ts'
import { type MarketSummary, missingRates } from './gaps.ts'
import * as repository from './repository.ts'
import {
  type CreateMethodRequest,
  METHODS_MAX,
  type MethodResponse,
  type UpdateMethodRequest
} from './schema.ts'

type Deps = { db: Database; invalidation: Invalidation; listMarkets: () => Promise<readonly MarketSummary[]> }

/** Shipping methods. Their prices are in rates. */
export function createMethodService({ db, invalidation, listMarkets }: Deps) {
  async function list(query: PageQuery): Promise<Page<MethodResponse>> {
    const page = await readPage(query, {
      name: 'shipping methods',
      start: { position: 0, id: LOWEST_ID },
      rows: place => db.rows(repository.listMethods, place),
      placeOf: ({ position, id }) => ({ position, id }),
      total: () => db.first(repository.countMethods)
    })
    return { ...page, items: await withMissingRates(page.items) }
  }

  /** @throws `SHIPPING_METHOD_NOT_FOUND` */
  async function read(id: string): Promise<MethodResponse> {
    const row = found(await db.first(repository.findMethod, { id }), methodNotFound)
    const [method] = await withMissingRates([row])
    return found(method, methodNotFound)
  }

  async function withMissingRates(rows: readonly repository.MethodRow[]): Promise<MethodResponse[]> {
    const methods = rows.map(({ id }) => id)
    const [places, markets] = await Promise.all([
      db.rows(repository.listRatedZones, { methods }),
      listMarkets()
    ])
    const placesOf = Map.groupBy(places, place => place.method_id)
    return rows.map(row => ({
      ...present(row),
      missing_rates: missingRates(row.kind, placesOf.get(row.id) ?? [], markets)
    }))
  }

  /** @throws `SHIPPING_DAYS_INVALID`, `SHIPPING_RULES_LIMIT` */
  async function create(body: CreateMethodRequest, write: IdempotentWrite): Promise<MethodResponse> {
    const { kind, service, estimated_days: days, provider = null, tax_category = null } = body
    const { active = true, position = null } = body
    await write.once(db, async tx => {
      await tx.run(lockRules)
      const { total = 0 } = (await tx.first(repository.countMethods)) ?? {}
      if (total >= METHODS_MAX) throw rulesLimit({ details: { limit: METHODS_MAX } })
      await tx.run(repository.insertMethod, {
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
    body: UpdateMethodRequest,
    write: IdempotentWrite
  ): Promise<MethodResponse> {
    const { estimated_days: days, ...fields } = body
    await write.once(db, async tx => {
      const stored = await lock(tx, id, write)
      if (isEmptyPatch(body)) return
      const estimate = days === undefined ? {} : { days_min: days?.min ?? null, days_max: days?.max ?? null }
      await tx.run(repository.updateMethod, { ...stored, ...fields, ...estimate })
      invalidation.publish(tx)
    })
    return read(id)
  }

  /** Also deletes the method's rates. @throws `SHIPPING_METHOD_NOT_FOUND`, `SHIPPING_METHOD_STALE` */
  async function remove(id: string, write: IdempotentWrite): Promise<void> {
    await write.once(db, async tx => {
      await lock(tx, id, write)
      await tx.run(repository.deleteMethod, { id })
      invalidation.publish(tx)
    })
  }

  return { list, read, create, patch, remove }
}
export type MethodService = ReturnType<typeof createMethodService>

/** Locks the method until `tx` ends. */
async function lock(tx: Transaction, id: string, write: IdempotentWrite): Promise<repository.MethodRow> {
  await tx.run(lockRules)
  const stored = found(await tx.first(repository.findMethod, { id }), methodNotFound)
  write.expect(stored.version, methodStale)
  return stored
}

const present = ({ days_min: min, days_max: max, ...method }: repository.MethodRow) => ({
  ...method,
  estimated_days: min === null || max === null ? null : { min, max }
})
