import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readCsvRecords } from './records.ts'
import { csvLine, unescapeCsvFormula } from './write.ts'

test('numbers, booleans and null are written unquoted to CSV, and text is quoted where needed', () => {
  expect(csvLine([1, -2, true, null, 'plain', 'a "b", c', 'two\nlines'])).toBe(
    '1,-2,true,,plain,"a ""b"", c","two\nlines"\r\n'
  )
})

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', '\n=1', '\uff1d1+1', '\uff20x', "'=1", "''@x"])(
  'a CSV cell that a spreadsheet would execute as a formula is escaped: %j',
  async text => {
    const [record] = await Array.fromAsync(readCsvRecords(Readable.from([Buffer.from(csvLine([text, 'x']))])))
    expect(record?.cells).toEqual([`'${text}`, 'x'])
  }
)

test('every text written to CSV is read back unchanged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 5 }),
      async texts => {
        const line = csvLine(['first', ...texts])
        const [record] = await Array.fromAsync(readCsvRecords(Readable.from([Buffer.from(line)])))
        const read = record?.cells.slice(1) ?? []
        expect(read.map(unescapeCsvFormula)).toEqual(texts)
      }
    ),
    { numRuns: 200 }
  )
})
