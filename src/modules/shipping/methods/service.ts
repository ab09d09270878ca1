import { found } from '../../../kernel/errors.ts'
import { FIRST_ID } from '../../../kernel/ids.ts'
import { type Page, readPage } from '../../../kernel/pages.ts'
import { changesNothing } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Write } from '../../../platform/idempotency/write.ts'
import type { Changes } from '../../../platform/kept.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { methodNotFound, methodStale, rulesLimit } from '../errors.ts'
import { listPlaces } from '../rates/repository.ts'
import { lockRules } from '../rules/repository.ts'
import { type Market, missingRates } from './gaps.ts'
import * as repository from './repository.ts'
import {
  type CreateMethodRequest,
  METHODS_MAX,
  type MethodResponse,
  type UpdateMethodRequest
} from './schema.ts'

type Deps = { db: Database; changes: Changes; listMarkets: () => Promise<readonly Market[]> }

/** The ways in which something reaches the buyer. What they cost is in their rates. */
export function createMethodService({ db, changes, listMarkets }: Deps) {
  async function list(query: PageQuery): Promise<Page<MethodResponse>> {
    const page = await readPage(query, {
      name: 'shipping methods',
      start: { position: 0, id: FIRST_ID },
      rows: place => db.rows(repository.listMethods, place),
      placeOf: ({ position, id }) => ({ position, id }),
      total: () => db.first(repository.countMethods)
    })
    return { ...page, items: await withGaps(page.items) }
  }

  /** @throws `SHIPPING_METHOD_NOT_FOUND` */
  async function read(id: string): Promise<MethodResponse> {
    const row = found(await db.first(repository.findMethod, { id }), methodNotFound)
    const [method] = await withGaps([row])
    return found(method, methodNotFound)
  }

  async function withGaps(rows: readonly repository.MethodRow[]): Promise<MethodResponse[]> {
    const methods = rows.map(({ id }) => id)
    const [places, markets] = await Promise.all([db.rows(listPlaces, { methods }), listMarkets()])
    const placesOf = Map.groupBy(places, place => place.method_id)
    return rows.map(row => ({
      ...present(row),
      missing_rates: missingRates(row.kind, placesOf.get(row.id) ?? [], markets)
    }))
  }

  /** @throws `SHIPPING_DAYS_INVALID`, `SHIPPING_RULES_LIMIT` */
  async function create(body: CreateMethodRequest, write: Write): Promise<MethodResponse> {
    const { kind, service, estimated_days: days, provider = null, tax_category = null } = body
    const { active = true, position = null } = body
    await write.once(db, async tx => {
      await tx.run(lockRules)
      const { total = 0 } = (await tx.first(repository.countMethods)) ?? {}
      if (total >= METHODS_MAX) throw rulesLimit({ details: { limit: METHODS_MAX } })
      await tx.run(repository.insertMethod, {
        ...{ id: write.id, kind, provider, service, tax_category, active, position },
        days_min: days?.min ?? null,
        days_max: days?.max ?? null
      })
      changes.announce(tx)
    })
    return read(write.id)
  }

  /** @throws `SHIPPING_METHOD_NOT_FOUND`, `SHIPPING_METHOD_STALE`, `SHIPPING_DAYS_INVALID` */
  async function patch(id: string, body: UpdateMethodRequest, write: Write): Promise<MethodResponse> {
    const { estimated_days: days, ...fields } = body
    await write.once(db, async tx => {
      const stored = await hold(tx, id, write)
      if (changesNothing(body)) return
      const estimate = days === undefined ? {} : { days_min: days?.min ?? null, days_max: days?.max ?? null }
      await tx.run(repository.updateMethod, { ...stored, ...fields, ...estimate })
      changes.announce(tx)
    })
    return read(id)
  }

  /** Its rates go with it. @throws `SHIPPING_METHOD_NOT_FOUND`, `SHIPPING_METHOD_STALE` */
  async function remove(id: string, write: Write): Promise<void> {
    await write.once(db, async tx => {
      await hold(tx, id, write)
      await tx.run(repository.deleteMethod, { id })
      changes.announce(tx)
    })
  }

  return { list, read, create, patch, remove }
}
export type MethodService = ReturnType<typeof createMethodService>

/** Nobody else changes it until `tx` ends. */
async function hold(tx: Transaction, id: string, write: Write): Promise<repository.MethodRow> {
  await tx.run(lockRules)
  const stored = found(await tx.first(repository.findMethod, { id }), methodNotFound)
  write.expect(stored.version, methodStale)
  return stored
}

const present = ({ days_min: min, days_max: max, ...method }: repository.MethodRow) => ({
  ...method,
  estimated_days: min === null || max === null ? null : { min, max }
})
