import type { Readable } from 'node:stream'
import type { Applied } from '../postgres/migrate.ts'

// A backup is compressed text: a line of JSON about it, then for each table a line of JSON and its rows as COPY writes them,
// closed by `\.`, and a line of JSON at the end, without which it is not whole.

/** The first line. */
export type Head = {
  readonly cartwright: 'backup'
  readonly format: 1
  readonly version: string
  readonly taken_at: string
  /** What the tables are made by. */
  readonly migrations: readonly Applied[]
}
/** The line before the rows of a table. Names are quoted where SQL needs it. */
export type TableHead = { readonly table: string; readonly columns: readonly string[] }
/** The last line: how many rows each table has, and where sequences go on. */
export type End = {
  readonly rows: Readonly<Record<string, number>>
  readonly sequences: Readonly<Record<string, { readonly last_value: string; readonly is_called: boolean }>>
}

/** COPY ends rows with a line break and escapes every other, and every backslash: nothing else looks like this. */
const ROWS_END = Buffer.from('\n\\.\n')
export const CLOSE_ROWS = '\\.\n'
const NEWLINE = 10
const LINE_BYTES_MAX = 16_777_216

export class NoBackup extends Error {}

/** Reads a backup from its beginning: a line, or the rows of a table, as they come. */
export function createArchiveReader(source: Readable) {
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let held: Buffer = Buffer.alloc(0)

  async function more(): Promise<void> {
    const { value, done } = await chunks.next()
    if (done) throw new NoBackup('it ends in the middle')
    held = held.length === 0 ? value : Buffer.concat([held, value])
  }

  return {
    /** The next line, as JSON. */
    async line(): Promise<unknown> {
      let end = held.indexOf(NEWLINE)
      while (end < 0) {
        if (held.length > LINE_BYTES_MAX) throw new NoBackup('a line of it does not end')
        await more()
        end = held.indexOf(NEWLINE)
      }
      const text = held.toString('utf8', 0, end)
      held = held.subarray(end + 1)
      try {
        return JSON.parse(text)
      } catch {
        throw new NoBackup('a line of it is not JSON')
      }
    },
    /** The rows that stand here, and what closes them. */
    async *rows(): AsyncGenerator<Buffer> {
      // What stood before is a line break, so that no rows at all are closed like some.
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
export type ArchiveReader = ReturnType<typeof createArchiveReader>
