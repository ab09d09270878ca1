import type { Readable } from 'node:stream'
import type { AppliedMigration } from '../postgres/migrate.ts'

// A backup is gzipped text: a header line of JSON, then for each table a line of JSON and its rows in COPY format, closed by
// `\.`, and a footer line of JSON. Without the footer it is incomplete.

/** The header line. */
export type BackupHeader = {
  readonly cartwright: 'backup'
  readonly format: 1
  readonly version: string
  readonly taken_at: string
  /** The migrations that were applied to the database of the backup. */
  readonly migrations: readonly AppliedMigration[]
}
/** The line before the rows of a table. Names are quoted as SQL identifiers. */
export type BackupTableHeader = { readonly table: string; readonly columns: readonly string[] }
/** The footer line: row counts of tables and values of sequences. */
export type BackupFooter = {
  readonly rows: Readonly<Record<string, number>>
  readonly sequences: Readonly<Record<string, { readonly last_value: string; readonly is_called: boolean }>>
}

/** End of rows. COPY escapes line breaks and backslashes in values, so no row looks like this. */
const ROWS_END = Buffer.from('\n\\.\n')
export const COPY_END_LINE = '\\.\n'
const NEWLINE = 10
const LINE_BYTES_MAX = 16_777_216

export class InvalidBackupError extends Error {}

/** Reads a backup sequentially: a line of JSON, or the rows of a table. */
export function createBackupArchiveReader(source: Readable) {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer = Buffer.alloc(0)

  async function more(): Promise<void> {
    const { value, done } = await chunks.next()
    if (done) throw new InvalidBackupError('it ends in the middle')
    held = held.length === 0 ? value : Buffer.concat([held, value])
  }

  return {
    /** Reads the next line as JSON. */
    async line(): Promise<unknown> {
      let end = held.indexOf(NEWLINE)
      while (end < 0) {
        if (held.length > LINE_BYTES_MAX) throw new InvalidBackupError('a line of it does not end')
        await more()
        end = held.indexOf(NEWLINE)
      }
      const text = held.toString('utf8', 0, end)
      held = held.subarray(end + 1)
      try {
        return JSON.parse(text)
      } catch {
        throw new InvalidBackupError('a line of it is not JSON')
      }
    },
    /** Yields the rows of a table, up to the line that ends them. */
    async *rows(): AsyncGenerator<Buffer> {
      // The end line is found by the line break before it. Without rows there is none, so the break of the header
      // line is put back.
      held = Buffer.concat([ROWS_END.subarray(0, 1), held])
      let isFirst = true
      const given = (bytes: Buffer) => {
        const rows = isFirst ? bytes.subarray(1) : bytes
        isFirst = false
        return rows
      }
      for (;;) {
        const end = held.indexOf(ROWS_END)
        if (end >= 0) {
          const rows = given(held.subarray(0, end + 1))
          held = held.subarray(end + ROWS_END.length)
          if (rows.length > 0) yield rows
          return
        }
        const sure = held.length - ROWS_END.length + 1
        if (sure > 1) {
          const rows = given(held.subarray(0, sure))
          held = held.subarray(sure)
          yield rows
        }
        await more()
      }
    }
  }
}
export type BackupArchiveReader = ReturnType<typeof createBackupArchiveReader>
