import type { Readable } from 'node:stream'
import { found } from '../../../kernel/errors.ts'
import { isId, LOWEST_ID } from '../../../kernel/ids.ts'
import { formatAmount, parseAmount } from '../../../kernel/money.ts'
import { createCsvStream, csvLine } from '../../../platform/csv/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { priceListNotFoundError } from '../errors.ts'
import {
  importCsvAllOrNothing,
  PricingCsvRowError,
  type ReadCsvCellByColumn
} from '../input-formats/csv-import.ts'
import type { PriceChangeBroadcaster } from '../price-lists/price-changes.ts'
import { findPriceList } from '../price-lists/repository.ts'
import * as repository from './repository.ts'
import { type PriceListEntry, setPriceListEntries } from './set-entries.ts'

const COLUMNS = ['variant_id', 'from_quantity', 'price'] as const
const PAGE_PRICES = 1_000
const QUANTITY = /^[1-9]\d{0,6}$/
const QUANTITY_MAX = 1_000_000

/** Exports and imports the prices of a list as CSV, with decimal amounts such as 19.90. */
export function createPriceListCsv({ db, changes }: { db: Database; changes: PriceChangeBroadcaster }) {
  const currencyOf = async (listId: string) =>
    found(await db.first(findPriceList, { id: listId }), priceListNotFoundError).currency

  return {
    /** Exports all prices. Each page shows the prices at the time it is read. @throws `PRICING_PRICE_LIST_NOT_FOUND` */
    exportCsv: async (listId: string): Promise<Readable> =>
      createCsvStream(COLUMNS, linesOf(db, listId, await currencyOf(listId))),

    /**
     * Imports prices. Prices that the file does not name stay.
     * @throws `PRICING_PRICE_LIST_NOT_FOUND`, `PRICING_IMPORT_FAILED`, `PRICING_BREAK_LIMIT`
     */
    importCsv: async (listId: string, file: Readable, onRow: () => void) => {
      const currency = await currencyOf(listId)
      return importCsvAllOrNothing(
        db,
        file,
        {
          columns: COLUMNS,
          required: ['variant_id', 'price'],
          parse: cells => priceOf(cells, currency),
          write: async (tx, prices) => {
            // If two rows have the same variant and quantity, the later row applies.
            const last = new Map(prices.map(price => [`${price.variantId} ${price.fromQuantity}`, price]))
            await setPriceListEntries(tx, listId, [...last.values()])
            changes.announce(
              tx,
              listId,
              prices.map(({ variantId }) => variantId)
            )
          }
        },
        onRow
      )
    }
  }
}
export type PriceListCsv = ReturnType<typeof createPriceListCsv>

function priceOf(cells: ReadCsvCellByColumn, currency: string): PriceListEntry {
  const variantId = cells('variant_id').toLowerCase()
  if (!isId(variantId)) throw new PricingCsvRowError('variant_id must be the id of a variant.')
  const quantity = cells('from_quantity') || '1'
  if (!QUANTITY.test(quantity) || Number(quantity) > QUANTITY_MAX)
    throw new PricingCsvRowError(`from_quantity must be a whole number from 1 to ${QUANTITY_MAX}.`)
  const priceMinor = parseAmount(cells('price'), currency)
  if (priceMinor === undefined)
    throw new PricingCsvRowError(
      `price must be an amount of ${currency}, such as ${formatAmount(1_990, currency)}.`
    )
  return { variantId, fromQuantity: Number(quantity), priceMinor }
}

async function* linesOf(db: Database, listId: string, currency: string): AsyncGenerator<string> {
  for (let place = { variant_id: LOWEST_ID, from_quantity: 0 }; ; ) {
    const rows = await db.rows(repository.listPricesOfList, { list_id: listId, ...place, limit: PAGE_PRICES })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows
      .map(row => csvLine([row.variant_id, row.from_quantity, formatAmount(row.price_minor, currency)]))
      .join('')
    place = { variant_id: last.variant_id, from_quantity: last.from_quantity }
  }
}
