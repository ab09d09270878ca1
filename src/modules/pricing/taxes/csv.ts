import type { Readable } from 'node:stream'
import { DomainError } from '../../../kernel/errors.ts'
import { HIGHEST_ID } from '../../../kernel/ids.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import { createCsvStream, csvLine } from '../../../platform/csv/write.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { taxRecordLimitReachedError } from '../errors.ts'
import {
  importCsvAllOrNothing,
  PricingCsvRowError,
  type ReadCsvCellByColumn
} from '../input-formats/csv-import.ts'
import type { PricingPeriodParser } from '../input-formats/periods.ts'
import * as repository from './repository.ts'
import {
  COUNTRY_CODE_REGEX,
  TAX_CATEGORY_CODE_REGEX,
  TAX_POSTAL_PATTERN_REGEX,
  TAX_RATES_MAX,
  TAX_ZONES_MAX
} from './schema.ts'
import { normalizeTaxZonePlace } from './zone-area.ts'

const PAGE_RATES = 1_000
const PPM_MAX = 1_000_000
const DAY_OR_MOMENT = /^[12]\d{3}-\d\d-\d\d(?:T\S+)?$/
const COLUMNS = [
  'country',
  'region',
  'postal_pattern',
  'category',
  'rate_ppm',
  'name',
  'starts_at',
  'ends_at'
] as const

type Rate = {
  country: string
  region: string
  postalPattern: string
  category: string
  ratePpm: number
  name: string
  startsAt: Date | null
  endsAt: Date | null
}
type Deps = { db: Database; invalidation: CacheInvalidator; periods: PricingPeriodParser }

/** Exports and imports tax rates as CSV. */
export const createTaxRateCsv = ({ db, invalidation, periods }: Deps) => ({
  /** Exports all tax rates. Each page shows the rates at the time it is read. */
  exportCsv: (): Readable => createCsvStream(COLUMNS, linesOf(db)),

  /**
   * Imports tax rates. A row updates the rate with its zone, category and start, or creates it, with the zone.
   * Rates that the file does not name stay. @throws `PRICING_IMPORT_FAILED`, `PRICING_TAX_CATEGORY_NOT_FOUND`, `PRICING_TAX_RATE_OVERLAP`,
   * `PRICING_PERIOD_INVALID`, `PRICING_TAX_LIMIT`
   */
  importCsv: (file: Readable, onRow: () => void) =>
    importCsvAllOrNothing(
      db,
      file,
      {
        columns: COLUMNS,
        required: ['country', 'category', 'rate_ppm', 'name'],
        parse: cells => rateOf(cells, periods),
        write: async (tx, rates) => {
          await setRates(tx, rates)
          invalidation.publish(tx)
        }
      },
      onRow
    )
})
export type TaxRateCsv = ReturnType<typeof createTaxRateCsv>

async function setRates(tx: Transaction, rates: readonly Rate[]): Promise<void> {
  const places = {
    countries: rates.map(({ country }) => country),
    regions: rates.map(({ region }) => region),
    postal_patterns: rates.map(({ postalPattern }) => postalPattern)
  }
  const given = {
    ...places,
    categories: rates.map(({ category }) => category),
    rates: rates.map(({ ratePpm }) => ratePpm),
    names: rates.map(({ name }) => name),
    starts: rates.map(({ startsAt }) => secondsOf(startsAt)),
    ends: rates.map(({ endsAt }) => secondsOf(endsAt))
  }
  await tx.run(repository.insertMissingTaxZonesOfFile, places)
  // Rates that end are updated first, so that new ones do not overlap them.
  await tx.run(repository.updateImportedTaxRates, given)
  await tx.run(repository.insertImportedTaxRates, given)
  const zones = await tx.first(repository.countTaxZones)
  const counted = await tx.first(repository.countTaxRates, { zone_id: null })
  if ((zones?.total ?? 0) > TAX_ZONES_MAX)
    throw taxRecordLimitReachedError({ details: { limit: TAX_ZONES_MAX } })
  if ((counted?.total ?? 0) > TAX_RATES_MAX)
    throw taxRecordLimitReachedError({ details: { limit: TAX_RATES_MAX } })
}

const secondsOf = (at: Date | null) => (at === null ? null : at.getTime() / 1_000)

function rateOf(cells: ReadCsvCellByColumn, periods: PricingPeriodParser): Rate {
  const word = (column: string, pattern: string, isNeeded: boolean) => {
    const cell = cells(column)
    if ((isNeeded || cell !== '') && !new RegExp(pattern).test(cell))
      throw new PricingCsvRowError(`${column} does not have the form that is asked for: ${pattern}`)
    return cell
  }
  const moment = (column: 'starts_at' | 'ends_at') => {
    const cell = cells(column)
    if (cell === '') return null
    if (!DAY_OR_MOMENT.test(cell))
      throw new PricingCsvRowError(`${column} must be a day, such as 2026-03-01.`)
    return readMoment(periods, cell, column)
  }
  const ratePpm = Number(word('rate_ppm', '^\\d{1,7}$', true))
  if (ratePpm > PPM_MAX) throw new PricingCsvRowError(`rate_ppm must be a whole number from 0 to ${PPM_MAX}.`)
  const place = normalizeTaxZonePlace({
    country: word('country', COUNTRY_CODE_REGEX, true),
    region: nullIfEmpty(cells('region')),
    postal_pattern: nullIfEmpty(word('postal_pattern', TAX_POSTAL_PATTERN_REGEX, false))
  })
  if ('fault' in place) throw new PricingCsvRowError(`${place.fault.field} ${place.fault.message}.`)
  return {
    country: place.country,
    region: place.region ?? '',
    postalPattern: place.postal_pattern ?? '',
    category: word('category', TAX_CATEGORY_CODE_REGEX, true),
    ratePpm,
    name: word('name', '^[^\\u0000-\\u001f\\u007f]{1,255}$', true),
    startsAt: moment('starts_at'),
    endsAt: moment('ends_at')
  }
}

const nullIfEmpty = (cell: string) => (cell === '' ? null : cell)

function readMoment(periods: PricingPeriodParser, cell: string, column: 'starts_at' | 'ends_at'): Date {
  try {
    return periods.read(cell, column)
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    throw new PricingCsvRowError(`${column} must be a day that there is.`, { cause: error })
  }
}

async function* linesOf(db: Database): AsyncGenerator<string> {
  for (let after = HIGHEST_ID; ; ) {
    const rows = await db.rows(repository.listTaxRateExportRows, { after, limit: PAGE_RATES })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(row => csvLine(COLUMNS.map(column => textOf(row[column])))).join('')
    after = last.id
  }
}
const textOf = (cell: string | number | Date | null) => (cell instanceof Date ? cell.toISOString() : cell)
