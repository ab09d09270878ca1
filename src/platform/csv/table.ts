import { type CsvRecord, CsvRejectedError, readCsvRecords } from './records.ts'
import type { SpooledFile } from './spool.ts'

/** The parsed header of a CSV file, or why the file cannot be read. */
type ReadHeader<H> = (cells: readonly string[]) => { header: H } | { problem: string }

/** Reads a whole CSV file once to validate it. @throws CsvRejectedError when it is not CSV, or `readHeader` returns a problem */
export async function validateCsvFile<H>(
  file: SpooledFile,
  readHeader: ReadHeader<H>,
  onRow: () => void
): Promise<{ header: H; rowsTotal: number }> {
  let header: H | undefined
  let rowsTotal = 0
  for await (const { row, cells } of readCsvRecords(file.open())) {
    onRow()
    if (header !== undefined) {
      rowsTotal += 1
      continue
    }
    const found = readHeader(cells)
    if ('problem' in found) throw new CsvRejectedError(row, found.problem)
    header = found.header
  }
  if (header === undefined) throw new CsvRejectedError(1, 'The file is empty.')
  return { header, rowsTotal }
}

/** Yields the records after the header. */
export async function* readCsvDataRecords(file: SpooledFile): AsyncGenerator<CsvRecord> {
  let isHeader = true
  for await (const record of readCsvRecords(file.open())) {
    if (!isHeader) yield record
    isHeader = false
  }
}
