import { type CsvRecord, FileRefused, readRecords } from './records.ts'
import type { SpooledFile } from './spool.ts'

/** The parsed header, or why the file cannot be read. */
type ReadHeader<H> = (cells: readonly string[]) => { header: H } | { problem: string }

/** Reads the whole file once. @throws FileRefused when it is not CSV, or `readHeader` returns a problem */
export async function checkTable<H>(
  file: SpooledFile,
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

/** Yields the records after the header. */
export async function* readTable(file: SpooledFile): AsyncGenerator<CsvRecord> {
  let isHeader = true
  for await (const record of readRecords(file.open())) {
    if (!isHeader) yield record
    isHeader = false
  }
}
