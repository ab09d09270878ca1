import { type CsvRecord, FileRefused, readRecords } from './records.ts'
import type { Spooled } from './spool.ts'

/** What the first row says of all others, or why the file cannot be read. */
type ReadHeader<H> = (cells: readonly string[]) => { header: H } | { problem: string }

/** Reads the file once, to its end. @throws FileRefused when it is not CSV, or what `readHeader` says */
export async function checkTable<H>(
  file: Spooled,
  readHeader: ReadHeader<H>,
  onRow: () => void
): Promise<{ header: H; rowsTotal: number }> {
  let header: H | undefined
  let rowsTotal = 0
  for await (const { row, cells } of readRecords(file.open())) {
    onRow()
    if (header !== undefined) {
      rowsTotal += 1
      continue
    }
    const found = readHeader(cells)
    if ('problem' in found) throw new FileRefused(row, found.problem)
    header = found.header
  }
  if (header === undefined) throw new FileRefused(1, 'The file is empty.')
  return { header, rowsTotal }
}

/** The records behind the header. */
export async function* readTable(file: Spooled): AsyncGenerator<CsvRecord> {
  let isHeader = true
  for await (const record of readRecords(file.open())) {
    if (!isHeader) yield record
    isHeader = false
  }
}
