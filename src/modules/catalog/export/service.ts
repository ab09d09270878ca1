import type { Readable } from 'node:stream'
import { LOWEST_ID } from '../../../kernel/ids.ts'
import { type CsvValue, createCsvStream, csvLine } from '../../../platform/csv/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { SHOPIFY_CSV_HEADINGS, SHOPIFY_CSV_STOCK_COLUMNS, type ShopifyCsvColumn } from '../import/header.ts'
import { listProductsForExport } from './repository.ts'
import { shopifyCsvRowsOfProduct } from './shopify.ts'

/** Products that the export reads in one statement. Few, because a description can have 200,000 characters. */
const PAGE_PRODUCTS = 20

/** `stock`: whether to include the tracking, quantity and backorder policy of variants. */
export type ProductExportOptions = { stock?: boolean }
type OnSkipped = (slug: string, reason: string) => void
type Deps = { db: Database; inventory: Pick<InventoryApi, 'listItems'> | undefined; currency: string }

/**
 * Exports the catalog as a CSV file that the import reads. Each page of products is read when it is sent,
 * without a common snapshot or connection. Calls `onSkipped` for products that the format cannot express.
 */
export function createProductExporter({ db, inventory, currency }: Deps) {
  const isStock = (field: ShopifyCsvColumn) =>
    (SHOPIFY_CSV_STOCK_COLUMNS as readonly ShopifyCsvColumn[]).includes(field)

  async function* linesOf(
    fields: readonly ShopifyCsvColumn[],
    withStock: boolean,
    onSkipped: OnSkipped
  ): AsyncGenerator<string> {
    for (let after = LOWEST_ID; ; ) {
      const products = await db.rows(listProductsForExport, { after, currency, products: PAGE_PRODUCTS })
      const last = products.at(-1)
      if (last === undefined) return
      const ids = products.flatMap(({ variants }) => (variants ?? []).map(({ id }) => id))
      const stock = withStock ? await inventory?.listItems(ids) : undefined
      const lines = products.flatMap(product => {
        const found = shopifyCsvRowsOfProduct(product, currency, stock ?? new Map())
        if ('rows' in found)
          return found.rows.map(cells => fields.map((field): CsvValue => cells[field] ?? null))
        onSkipped(product.slug, found.problem)
        return []
      })
      yield lines.map(csvLine).join('')
      after = last.id
    }
  }
  return ({ stock = false }: ProductExportOptions = {}, onSkipped: OnSkipped = () => {}): Readable => {
    const withStock = stock && inventory !== undefined
    const fields = (Object.keys(SHOPIFY_CSV_HEADINGS) as ShopifyCsvColumn[]).filter(
      field => withStock || !isStock(field)
    )
    const columns = fields.map(field => SHOPIFY_CSV_HEADINGS[field][0])
    return createCsvStream(columns, linesOf(fields, withStock, onSkipped))
  }
}
export type ExportProductsCsv = ReturnType<typeof createProductExporter>
