import type { Readable } from 'node:stream'
import { FIRST_ID } from '../../../kernel/ids.ts'
import { csvFile, csvLine } from '../../../platform/csv/write.ts'
import type { Database } from '../../../platform/postgres/database.ts'
import { COLUMNS } from './columns.ts'
import * as repository from './repository.ts'

const PAGE_ITEMS = 500

/** All of the stock as a file. Each page of it is as of when it was read, and no connection is held between them. */
export const createExporter =
  ({ db }: { db: Database }) =>
  (): Readable =>
    csvFile(COLUMNS, linesFrom(db))
export type ExportCsv = ReturnType<typeof createExporter>

async function* linesFrom(db: Database): AsyncGenerator<string> {
  for (let after = FIRST_ID; ; ) {
    const rows = await db.rows(repository.listExported, { after, items: PAGE_ITEMS })
    const last = rows.at(-1)
    if (last === undefined) return
    yield rows.map(row => csvLine(COLUMNS.map(column => row[column]))).join('')
    after = last.variant_id
  }
}
