import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import { readCsvRecords } from './records.ts'

const records = (text: string | Buffer) => Array.fromAsync(readCsvRecords(Readable.from([Buffer.from(text)])))

test('a parsed CSV record has the number of the line on which it starts', async () => {
  for (const [end, name] of [
    ['\n', 'LF'],
    ['\r\n', 'CRLF'],
    ['\r', 'CR']
  ]) {
    const lines = ['a,b', '1,"two', 'lines"', '', '2,"three', '', 'lines"', '3,x', '']
    const rows = (await records(lines.join(end))).map(({ row, cells }) => [row, cells[0]])
    expect([name, rows]).toEqual([
      name,
      [
        [1, 'a'],
        [2, '1'],
        [5, '2'],
        [8, '3']
      ]
    ])
  }
})

test('a CSV file with a byte order mark, quotes, empty cells or no last line end is parsed', async () => {
  const rows = await records('\ufeffHandle,Title\r\n"a ""b"", c",\r\nx,5" pipe')
  expect(rows.map(({ cells }) => cells)).toEqual([
    ['Handle', 'Title'],
    ['a "b", c', ''],
    ['x', '5" pipe']
  ])
})

test('CSV text with an unclosed quote or a huge cell is rejected with its row', async () => {
  await expect(records('a,b\n1,2\n3,"never closed\n4,5\n')).rejects.toMatchObject({
    row: expect.any(Number),
    message: expect.stringContaining('Quote Not Closed')
  })
  await expect(records(`a,b\n"${'x'.repeat(9_000_000)}",2\n`)).rejects.toThrow('cannot be read as CSV')
})

test('a CSV row with more than 250,000 commas is rejected', async () => {
  const chunks = (row: string, times: number) =>
    Array.fromAsync(readCsvRecords(Readable.from(Array.from({ length: times }, () => Buffer.from(row)))))
  await expect(chunks(','.repeat(60_000), 10)).rejects.toMatchObject({
    row: 1,
    message: 'A row from here on has more than 250000 commas.'
  })
  expect(await chunks(`${','.repeat(60_000)}\n`, 10)).toHaveLength(10)
})
