import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readRecords } from './records.ts'
import { csvLine, textOf } from './write.ts'

test('numbers, words and nothing are written as they are, text within quotes where it needs them', () => {
  expect(csvLine([1, -2, true, null, 'plain', 'a "b", c', 'two\nlines'])).toBe(
    '1,-2,true,,plain,"a ""b"", c","two\nlines"\r\n'
  )
})

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\tx', '\rx', "'=1", "''@x"])(
  'a spreadsheet does not run the text %j',
  async text => {
    const [record] = await Array.fromAsync(readRecords(Readable.from([Buffer.from(csvLine([text, 'x']))])))
    expect(record?.cells).toEqual([`'${text}`, 'x'])
  }
)

test('what is written is read the same, and no two texts are written as one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 5 }),
      async texts => {
        const line = csvLine(['first', ...texts])
        const [record] = await Array.fromAsync(readRecords(Readable.from([Buffer.from(line)])))
        const read = record?.cells.slice(1) ?? []
        expect(read.map(textOf)).toEqual(texts)
      }
    ),
    { numRuns: 200 }
  )
})
