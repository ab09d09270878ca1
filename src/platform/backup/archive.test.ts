import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { COPY_END_LINE, createBackupArchiveReader, InvalidBackupError } from './archive.ts'

/** As COPY writes them: every backslash and line break escaped. */
const row = fc.stringMatching(/^[ab\t.]{0,6}$/).map(text => text.replaceAll('.', '\\\\.'))
const tables = fc.array(fc.array(row, { maxLength: 4 }), { minLength: 1, maxLength: 4 })

test('a backup that is read in chunks of any size has the lines and rows that were written', async () => {
  await fc.assert(
    fc.asyncProperty(
      tables,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      async (all, sizes) => {
        const whole = Buffer.from(
          all
            .map(
              (rows, index) =>
                `${JSON.stringify({ index })}\n${rows.map(each => `${each}\n`).join('')}${COPY_END_LINE}`
            )
            .join('')
        )
        const chunks: Buffer[] = []
        for (let at = 0; at < whole.length; ) {
          const size = sizes[chunks.length % sizes.length] ?? 1
          chunks.push(whole.subarray(at, at + size))
          at += size
        }
        const reader = createBackupArchiveReader(Readable.from(chunks))
        for (const [index, rows] of all.entries()) {
          expect(await reader.line()).toEqual({ index })
          const read = Buffer.concat(await Array.fromAsync(reader.rows())).toString()
          expect(read).toBe(rows.map(each => `${each}\n`).join(''))
        }
      }
    )
  )
})

test('a backup file that ends early or has no valid line is rejected', async () => {
  const reader = createBackupArchiveReader(Readable.from([Buffer.from('{"index":0}\na\nb\n')]))
  await reader.line()
  await expect(Array.fromAsync(reader.rows())).rejects.toThrow(InvalidBackupError)
  await expect(createBackupArchiveReader(Readable.from([Buffer.from('rubbish\n')])).line()).rejects.toThrow(
    InvalidBackupError
  )
})
