import type { Readable } from 'node:stream'
import { FIRST_ID } from '../../../kernel/ids.ts'
import { type CsvValue, csvFile, csvLine } from '../../../platform/csv/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import type { InventoryApi } from '../../inventory/index.ts'
import { type Field, HEADINGS, STOCK_FIELDS } from '../import/header.ts'
import { listExported } from './repository.ts'
import { rowsOf } from './shopify.ts'

/** A description may have 200,000 characters. */
const PAGE_PRODUCTS = 20

/** `stock`: with how variants are counted, and how many there are. */
export type ExportOptions = { stock?: boolean }
type OnLeftOut = (slug: string, reason: string) => void
type Deps = { db: Database; inventory: Pick<InventoryApi, 'described'> | undefined; currency: string }

/**
 * The catalog as a file that an import reads, a product after the other. Each page of it is as of when it was read, and no
 * connection is held between them. What such a file cannot say is left out, and `onLeftOut` told.
 */
export function createExporter({ db, inventory, currency }: Deps) {
  const isStock = (field: Field) => (STOCK_FIELDS as readonly Field[]).includes(field)

  async function* linesOf(
    fields: readonly Field[],
    withStock: boolean,
    onLeftOut: OnLeftOut
  ): AsyncGenerator<string> {
    for (let after = FIRST_ID; ; ) {
      const products = await db.rows(listExported, { after, currency, products: PAGE_PRODUCTS })
      const last = products.at(-1)
      if (last === undefined) return
      const ids = products.flatMap(({ variants }) => (variants ?? []).map(({ id }) => id))
      const stock = withStock ? await inventory?.described(ids) : undefined
      const lines = products.flatMap(product => {
        const found = rowsOf(product, currency, stock ?? new Map())
        if ('rows' in found)
          return found.rows.map(cells => fields.map((field): CsvValue => cells[field] ?? null))
        onLeftOut(product.slug, found.problem)
        return []
      })
      yield lines.map(csvLine).join('')
      after = last.id
    }
  }
  return ({ stock = false }: ExportOptions = {}, onLeftOut: OnLeftOut = () => {}): Readable => {
    const withStock = stock && inventory !== undefined
    const fields = (Object.keys(HEADINGS) as Field[]).filter(field => withStock || !isStock(field))
    const columns = fields.map(field => HEADINGS[field][0])
    return csvFile(columns, linesOf(fields, withStock, onLeftOut))
  }
}
export type ExportCsv = ReturnType<typeof createExporter>
