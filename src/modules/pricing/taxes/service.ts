import { type ErrorDefinition, found } from '../../../kernel/errors.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import { isEmptyPatch } from '../../../kernel/patch.ts'
import type { PageQuery } from '../../../kernel/wire.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import type { Statement } from '../../../platform/postgres/statement.ts'
import {
  taxCategoryInUseError,
  taxCategoryNotFoundError,
  taxPostalPatternInvalidError,
  taxRateNotFoundError,
  taxRecordLimitReachedError,
  taxRecordStaleError,
  taxRegionInvalidError,
  taxZoneInUseError,
  taxZoneNotFoundError
} from '../errors.ts'
import type { PricingPeriodParser } from '../input-formats/periods.ts'
import { STANDARD_TAX_CATEGORY, UNTAXED_TAX_CATEGORY } from '../quote/input.ts'
import * as repository from './repository.ts'
import {
  type CreateTaxCategoryRequest,
  type CreateTaxRateRequest,
  type CreateTaxZoneRequest,
  TAX_CATEGORIES_MAX,
  TAX_RATES_MAX,
  TAX_ZONES_MAX,
  type TaxCategoryResponse,
  type TaxRateResponse,
  type TaxRatesQuery,
  type TaxZoneResponse,
  type UpdateTaxCategoryRequest,
  type UpdateTaxRateRequest,
  type UpdateTaxZoneRequest
} from './schema.ts'
import { normalizeTaxZonePlace } from './zone-area.ts'

type Deps = { db: Database; invalidation: CacheInvalidator; periods: PricingPeriodParser }

/** Manages tax categories. */
export function createTaxCategoryService({ db, invalidation }: Deps) {
  const read = async (id: string): Promise<TaxCategoryResponse> =>
    found(await db.first(repository.findTaxCategory, { id }), taxCategoryNotFoundError)

  return {
    read,
    list: (query: PageQuery): Promise<Page<TaxCategoryResponse>> =>
      readPage(query, {
        ...newestFirst,
        name: 'tax categories',
        rows: page => db.rows(repository.listTaxCategories, page),
        total: () => db.first(repository.countTaxCategories)
      }),
    /** @throws `PRICING_TAX_CATEGORY_TAKEN`, `PRICING_TAX_LIMIT` */
    create: async (body: CreateTaxCategoryRequest, write: IdempotentWrite): Promise<TaxCategoryResponse> => {
      await write.once(db, async tx => {
        await tx.run(repository.insertTaxCategory, { ...body, id: write.id })
        checkLimit(await tx.first(repository.countTaxCategories), TAX_CATEGORIES_MAX)
      })
      return read(write.id)
    },
    /** @throws `PRICING_TAX_CATEGORY_NOT_FOUND`, `PRICING_TAX_STALE` */
    patch: async (id: string, body: UpdateTaxCategoryRequest, write: IdempotentWrite) => {
      await write.once(db, async tx => {
        const stored = await lock(tx, repository.lockTaxCategory, taxCategoryNotFoundError, id, write)
        if (!isEmptyPatch(body)) await tx.run(repository.updateTaxCategory, { ...stored, ...body })
      })
      return read(id)
    },
    /** @throws `PRICING_TAX_CATEGORY_NOT_FOUND`, `PRICING_TAX_STALE`, `PRICING_TAX_CATEGORY_IN_USE` */
    remove: (id: string, write: IdempotentWrite) =>
      write.once(db, async tx => {
        const { code } = await lock(tx, repository.lockTaxCategory, taxCategoryNotFoundError, id, write)
        const used = await tx.first(repository.isTaxCategoryUsedByRates, { code })
        if (used?.is_used || code === STANDARD_TAX_CATEGORY || code === UNTAXED_TAX_CATEGORY)
          throw taxCategoryInUseError()
        await tx.run(repository.deleteTaxCategory, { id })
        invalidation.publish(tx)
      })
  }
}
export type TaxCategoryService = ReturnType<typeof createTaxCategoryService>

/** Manages tax zones: a country, a region, or postal codes. */
export function createTaxZoneService({ db, invalidation }: Deps) {
  const read = async (id: string): Promise<TaxZoneResponse> =>
    found(await db.first(repository.findTaxZone, { id }), taxZoneNotFoundError)

  return {
    read,
    list: (query: PageQuery): Promise<Page<TaxZoneResponse>> =>
      readPage(query, {
        ...newestFirst,
        name: 'tax zones',
        rows: page => db.rows(repository.listTaxZones, page),
        total: () => db.first(repository.countTaxZones)
      }),
    /** @throws `PRICING_TAX_REGION_INVALID`, `PRICING_TAX_PATTERN_INVALID`, `PRICING_TAX_ZONE_TAKEN`, `PRICING_TAX_LIMIT` */
    create: async (body: CreateTaxZoneRequest, write: IdempotentWrite): Promise<TaxZoneResponse> => {
      const { name, country, region = null, postal_pattern = null } = body
      const place = placeOf({ country, region, postal_pattern })
      await write.once(db, async tx => {
        await tx.run(repository.insertTaxZone, { id: write.id, name, ...place })
        checkLimit(await tx.first(repository.countTaxZones), TAX_ZONES_MAX)
      })
      return read(write.id)
    },
    /** @throws `PRICING_TAX_ZONE_NOT_FOUND`, `PRICING_TAX_STALE`, and what `create` throws */
    patch: async (id: string, body: UpdateTaxZoneRequest, write: IdempotentWrite) => {
      await write.once(db, async tx => {
        const stored = await lock(tx, repository.lockTaxZone, taxZoneNotFoundError, id, write)
        if (isEmptyPatch(body)) return
        const zone = { ...stored, ...body }
        await tx.run(repository.updateTaxZone, { ...zone, ...placeOf(zone) })
        invalidation.publish(tx)
      })
      return read(id)
    },
    /** @throws `PRICING_TAX_ZONE_NOT_FOUND`, `PRICING_TAX_STALE`, `PRICING_TAX_ZONE_IN_USE` */
    remove: (id: string, write: IdempotentWrite) =>
      write.once(db, async tx => {
        await lock(tx, repository.lockTaxZone, taxZoneNotFoundError, id, write)
        const used = await tx.first(repository.isTaxZoneUsedByRates, { id })
        if (used?.is_used) throw taxZoneInUseError()
        await tx.run(repository.deleteTaxZone, { id })
      })
  }
}
export type TaxZoneService = ReturnType<typeof createTaxZoneService>

/** @throws `PRICING_TAX_REGION_INVALID`, `PRICING_TAX_PATTERN_INVALID` */
function placeOf(given: Parameters<typeof normalizeTaxZonePlace>[0]) {
  const place = normalizeTaxZonePlace(given)
  if (!('fault' in place)) return place
  const { field, message } = place.fault
  const refused = field === 'region' ? taxRegionInvalidError : taxPostalPatternInvalidError
  throw refused({ details: { errors: [{ path: `body/${field}`, message }] } })
}

/** Manages tax rates of a category in a zone, with their periods. */
export function createTaxRateService({ db, invalidation, periods }: Deps) {
  const read = async (id: string): Promise<TaxRateResponse> =>
    found(await db.first(repository.findTaxRate, { id }), taxRateNotFoundError)

  return {
    read,
    list: ({ zone_id: only, ...query }: TaxRatesQuery): Promise<Page<TaxRateResponse>> => {
      const zone_id = only ?? null
      return readPage(query, {
        ...newestFirst,
        name: 'tax rates',
        filters: zone_id,
        rows: page => db.rows(repository.listTaxRates, { ...page, zone_id }),
        total: () => db.first(repository.countTaxRates, { zone_id })
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
        await tx.run(repository.insertTaxRate, { ...body, id: write.id, starts_at, ends_at })
        checkLimit(await tx.first(repository.countTaxRates, { zone_id: null }), TAX_RATES_MAX)
        invalidation.publish(tx)
      })
      return read(write.id)
    },
    /** @throws `PRICING_TAX_RATE_NOT_FOUND`, `PRICING_TAX_STALE`, `PRICING_TAX_RATE_OVERLAP`, `PRICING_PERIOD_INVALID`, `PRICING_MOMENT_INVALID` */
    patch: async (id: string, body: UpdateTaxRateRequest, write: IdempotentWrite) => {
      const { starts_at, ends_at, ...fields } = body
      const [startsAt, endsAt] = [periods.read(starts_at, 'starts_at'), periods.read(ends_at, 'ends_at')]
      await write.once(db, async tx => {
        const stored = await lock(tx, repository.lockTaxRate, taxRateNotFoundError, id, write)
        if (isEmptyPatch(body)) return
        const period = {
          starts_at: startsAt === undefined ? stored.starts_at : startsAt,
          ends_at: endsAt === undefined ? stored.ends_at : endsAt
        }
        await tx.run(repository.updateTaxRate, { ...stored, ...fields, ...period })
        invalidation.publish(tx)
      })
      return read(id)
    },
    /** @throws `PRICING_TAX_RATE_NOT_FOUND`, `PRICING_TAX_STALE` */
    remove: (id: string, write: IdempotentWrite) =>
      write.once(db, async tx => {
        await lock(tx, repository.lockTaxRate, taxRateNotFoundError, id, write)
        await tx.run(repository.deleteTaxRate, { id })
        invalidation.publish(tx)
      })
  }
}
export type TaxRateService = ReturnType<typeof createTaxRateService>

/** Locks the row of a tax category, zone or rate until `tx` ends. */
async function lock<G extends { version: 'int4' }>(
  tx: Transaction,
  statement: Statement<{ id: 'uuid' }, G>,
  notFound: ErrorDefinition,
  id: string,
  write: IdempotentWrite
) {
  const stored = found(await tx.first(statement, { id }), notFound)
  write.expect(stored.version, taxRecordStaleError)
  return stored
}

function checkLimit(counted: { total: number } | undefined, limit: number): void {
  if ((counted?.total ?? 0) > limit) throw taxRecordLimitReachedError({ details: { limit } })
}
