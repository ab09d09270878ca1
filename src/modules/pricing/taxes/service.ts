import { type ErrorDefinition, found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { changesNothing } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { Invalidation } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Statement } from '../../../platform/postgres/statement.ts'
import {
  categoryInUse,
  categoryNotFound,
  rateNotFound,
  taxLimit,
  taxPatternInvalid,
  taxRegionInvalid,
  taxStale,
  zoneInUse,
  zoneNotFound
} from '../errors.ts'
import type { Periods } from '../input-formats/periods.ts'
import { STANDARD_TAX_CATEGORY, UNTAXED_TAX_CATEGORY } from '../quote/input.ts'
import * as repository from './repository.ts'
import {
  CATEGORIES_MAX,
  type CreateTaxCategoryRequest,
  type CreateTaxRateRequest,
  type CreateTaxZoneRequest,
  RATES_MAX,
  type TaxCategoryResponse,
  type TaxRateResponse,
  type TaxRatesQuery,
  type TaxZoneResponse,
  type UpdateTaxCategoryRequest,
  type UpdateTaxRateRequest,
  type UpdateTaxZoneRequest,
  ZONES_MAX
} from './schema.ts'
import { normalizePlace } from './zone-area.ts'

type Deps = { db: Database; invalidation: Invalidation; periods: Periods }

/** Manages tax categories. */
export function createTaxCategoryService({ db, invalidation }: Deps) {
  const read = async (id: string): Promise<TaxCategoryResponse> =>
    found(await db.first(repository.findCategory, { id }), categoryNotFound)

  return {
    read,
    list: (query: PageQuery): Promise<Page<TaxCategoryResponse>> =>
      readPage(query, {
        ...newestFirst,
        name: 'tax categories',
        rows: page => db.rows(repository.listCategories, page),
        total: () => db.first(repository.countCategories)
      }),
    /** @throws `PRICING_TAX_CATEGORY_TAKEN`, `PRICING_TAX_LIMIT` */
    create: async (body: CreateTaxCategoryRequest, write: IdempotentWrite): Promise<TaxCategoryResponse> => {
      await write.once(db, async tx => {
        await tx.run(repository.insertCategory, { ...body, id: write.id })
        checkLimit(await tx.first(repository.countCategories), CATEGORIES_MAX)
      })
      return read(write.id)
    },
    /** @throws `PRICING_TAX_CATEGORY_NOT_FOUND`, `PRICING_TAX_STALE` */
    patch: async (id: string, body: UpdateTaxCategoryRequest, write: IdempotentWrite) => {
      await write.once(db, async tx => {
        const stored = await lock(tx, repository.lockCategory, categoryNotFound, id, write)
        if (!changesNothing(body)) await tx.run(repository.updateCategory, { ...stored, ...body })
      })
      return read(id)
    },
    /** @throws `PRICING_TAX_CATEGORY_NOT_FOUND`, `PRICING_TAX_STALE`, `PRICING_TAX_CATEGORY_IN_USE` */
    remove: (id: string, write: IdempotentWrite) =>
      write.once(db, async tx => {
        const { code } = await lock(tx, repository.lockCategory, categoryNotFound, id, write)
        const used = await tx.first(repository.isCategoryUsed, { code })
        if (used?.is_used || code === STANDARD_TAX_CATEGORY || code === UNTAXED_TAX_CATEGORY)
          throw categoryInUse()
        await tx.run(repository.deleteCategory, { id })
        invalidation.publish(tx)
      })
  }
}
export type TaxCategoryService = ReturnType<typeof createTaxCategoryService>

/** Manages tax zones: a country, a region, or postal codes. */
export function createTaxZoneService({ db, invalidation }: Deps) {
  const read = async (id: string): Promise<TaxZoneResponse> =>
    found(await db.first(repository.findZone, { id }), zoneNotFound)

  return {
    read,
    list: (query: PageQuery): Promise<Page<TaxZoneResponse>> =>
      readPage(query, {
        ...newestFirst,
        name: 'tax zones',
        rows: page => db.rows(repository.listZones, page),
        total: () => db.first(repository.countZones)
      }),
    /** @throws `PRICING_TAX_REGION_INVALID`, `PRICING_TAX_PATTERN_INVALID`, `PRICING_TAX_ZONE_TAKEN`, `PRICING_TAX_LIMIT` */
    create: async (body: CreateTaxZoneRequest, write: IdempotentWrite): Promise<TaxZoneResponse> => {
      const { name, country, region = null, postal_pattern = null } = body
      const place = placeOf({ country, region, postal_pattern })
      await write.once(db, async tx => {
        await tx.run(repository.insertZone, { id: write.id, name, ...place })
        checkLimit(await tx.first(repository.countZones), ZONES_MAX)
      })
      return read(write.id)
    },
    /** @throws `PRICING_TAX_ZONE_NOT_FOUND`, `PRICING_TAX_STALE`, and what `create` throws */
    patch: async (id: string, body: UpdateTaxZoneRequest, write: IdempotentWrite) => {
      await write.once(db, async tx => {
        const stored = await lock(tx, repository.lockZone, zoneNotFound, id, write)
        if (changesNothing(body)) return
        const zone = { ...stored, ...body }
        await tx.run(repository.updateZone, { ...zone, ...placeOf(zone) })
        invalidation.publish(tx)
      })
      return read(id)
    },
    /** @throws `PRICING_TAX_ZONE_NOT_FOUND`, `PRICING_TAX_STALE`, `PRICING_TAX_ZONE_IN_USE` */
    remove: (id: string, write: IdempotentWrite) =>
      write.once(db, async tx => {
        await lock(tx, repository.lockZone, zoneNotFound, id, write)
        const used = await tx.first(repository.isZoneUsed, { id })
        if (used?.is_used) throw zoneInUse()
        await tx.run(repository.deleteZone, { id })
      })
  }
}
export type TaxZoneService = ReturnType<typeof createTaxZoneService>

/** @throws `PRICING_TAX_REGION_INVALID`, `PRICING_TAX_PATTERN_INVALID` */
function placeOf(given: Parameters<typeof normalizePlace>[0]) {
  const place = normalizePlace(given)
  if (!('fault' in place)) return place
  const { field, message } = place.fault
  const refused = field === 'region' ? taxRegionInvalid : taxPatternInvalid
  throw refused({ details: { errors: [{ path: `body/${field}`, message }] } })
}

/** Manages tax rates of a category in a zone, with their periods. */
export function createTaxRateService({ db, invalidation, periods }: Deps) {
  const read = async (id: string): Promise<TaxRateResponse> =>
    found(await db.first(repository.findRate, { id }), rateNotFound)

  return {
    read,
    list: ({ zone_id: only, ...query }: TaxRatesQuery): Promise<Page<TaxRateResponse>> => {
      const zone_id = only ?? null
      return readPage(query, {
        ...newestFirst,
        name: 'tax rates',
        filters: zone_id,
        rows: page => db.rows(repository.listRates, { ...page, zone_id }),
        total: () => db.first(repository.countRates, { zone_id })
      })
    },
    /**
     * @throws `PRICING_TAX_ZONE_NOT_FOUND`, `PRICING_TAX_CATEGORY_NOT_FOUND`, `PRICING_TAX_RATE_OVERLAP`, `PRICING_PERIOD_INVALID`,
     * `PRICING_MOMENT_INVALID`, `PRICING_TAX_LIMIT`
     */
    create: async (body: CreateTaxRateRequest, write: IdempotentWrite): Promise<TaxRateResponse> => {
      const starts_at = periods.read(body.starts_at ?? null, 'starts_at')
      const ends_at = periods.read(body.ends_at ?? null, 'ends_at')
      await write.once(db, async tx => {
        await tx.run(repository.insertRate, { ...body, id: write.id, starts_at, ends_at })
        checkLimit(await tx.first(repository.countRates, { zone_id: null }), RATES_MAX)
        invalidation.publish(tx)
      })
      return read(write.id)
    },
    /** @throws `PRICING_TAX_RATE_NOT_FOUND`, `PRICING_TAX_STALE`, `PRICING_TAX_RATE_OVERLAP`, and what is wrong with a period */
    patch: async (id: string, body: UpdateTaxRateRequest, write: IdempotentWrite) => {
      const { starts_at, ends_at, ...fields } = body
      const [startsAt, endsAt] = [periods.read(starts_at, 'starts_at'), periods.read(ends_at, 'ends_at')]
      await write.once(db, async tx => {
        const stored = await lock(tx, repository.lockRate, rateNotFound, id, write)
        if (changesNothing(body)) return
        const period = {
          starts_at: startsAt === undefined ? stored.starts_at : startsAt,
          ends_at: endsAt === undefined ? stored.ends_at : endsAt
        }
        await tx.run(repository.updateRate, { ...stored, ...fields, ...period })
        invalidation.publish(tx)
      })
      return read(id)
    },
    /** @throws `PRICING_TAX_RATE_NOT_FOUND`, `PRICING_TAX_STALE` */
    remove: (id: string, write: IdempotentWrite) =>
      write.once(db, async tx => {
        await lock(tx, repository.lockRate, rateNotFound, id, write)
        await tx.run(repository.deleteRate, { id })
        invalidation.publish(tx)
      })
  }
}
export type TaxRateService = ReturnType<typeof createTaxRateService>

/** Locks the row until `tx` ends. */
async function lock<G extends { version: 'int4' }>(
  tx: Transaction,
  statement: Statement<{ id: 'uuid' }, G>,
  notFound: ErrorDefinition,
  id: string,
  write: IdempotentWrite
) {
  const stored = found(await tx.first(statement, { id }), notFound)
  write.expect(stored.version, taxStale)
  return stored
}

function checkLimit(counted: { total: number } | undefined, limit: number): void {
  if ((counted?.total ?? 0) > limit) throw taxLimit({ details: { limit } })
}
