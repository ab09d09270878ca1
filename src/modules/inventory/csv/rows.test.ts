import { expect, test } from 'vitest'
import { newId } from '../../../kernel/ids.ts'
import { STOCK_EXPORT_COLUMNS } from './export.ts'
import { parseStockCsvHeader } from './header.ts'
import { createStockCsvRowConflictFinder } from './row-conflicts.ts'
import { parseStockCsvRow } from './rows.ts'

const headerOf = (...cells: string[]) => {
  const found = parseStockCsvHeader(cells)
  if ('problem' in found) throw new Error(found.problem)
  return found.header
}
const read = (columns: string[], cells: string[]) => parseStockCsvRow({ row: 7, cells }, headerOf(...columns))

test('a row of our own stock export is parsed completely, without computed columns', () => {
  const header = headerOf(...STOCK_EXPORT_COLUMNS)
  expect(header.ignored).toEqual({ names: ['reserved', 'available'], total: 2 })
  const id = newId()
  const cells = [id.toUpperCase(), "'=1+1", 'main', '-9', '2', 'TRUE', 'limit', '4', '3', '1', '0']
  expect(parseStockCsvRow({ row: 2, cells }, header)).toEqual({
    row: 2,
    variant: id.toUpperCase(),
    variantId: id,
    sku: '=1+1',
    location: 'main',
    policy: { tracked: true, backorder: 'limit', backorder_limit: 4, low_threshold: 3 },
    onHand: -9,
    safety: 2,
    sourceVersion: null
  })
  const empty = [id, '', '', '', '', '', '', '', '', '', '']
  expect(parseStockCsvRow({ row: 2, cells: empty }, header)).toMatchObject({
    policy: {},
    onHand: null,
    location: null
  })
})

test('a stock row of Shopify is parsed: the new quantity counts, and unstocked locations are skipped', () => {
  const columns = [
    'Handle',
    'Title',
    'SKU',
    'Location',
    'Available (not editable)',
    'On hand (current)',
    'On hand (new)'
  ]
  const row = (...cells: string[]) => read(columns, ['mug', 'Mug', 'M-1', 'My shop', ...cells])
  expect(row('3', '4', '9')).toMatchObject({ variantId: null, sku: 'M-1', location: 'My shop', onHand: 9 })
  expect(row('3', '4', '')).toMatchObject({ onHand: null })
  expect(row('not stocked', 'Not stocked', 'Not stocked')).toMatchObject({ onHand: null })
  expect(read(['SKU', 'Location', 'On hand'], ['M-1', 'My shop', '5'])).toMatchObject({ onHand: 5 })
})

test.each([
  ['on_hand', '1.5', 'This is not a whole number from -1000000000 to 1000000000.'],
  ['on_hand', '1e3', 'This is not a whole number from -1000000000 to 1000000000.'],
  ['on_hand', '1000000001', 'This is not a whole number from -1000000000 to 1000000000.'],
  ['on_hand', '９', 'This is not a whole number from -1000000000 to 1000000000.'],
  ['safety', '-1', 'This is not a whole number from 0 to 1000000000.'],
  ['tracked', 'yes', 'This must be true or false.'],
  ['backorder', 'some', 'This must be none or limit or any.'],
  ['backorder_limit', 'x', 'This is not a whole number from 0 to 1000000000.'],
  ['source_version', '9007199254740992', 'This is not a whole number from 0 to 9007199254740991.'],
  ['location', 'x'.repeat(256), 'This has 256 characters; 255 are allowed.'],
  ['location', 'a\u0000b', 'This is not one line of UTF-8.'],
  ['location', 'a\ufffdb', 'This is not one line of UTF-8.']
])(
  'in a stock file, the cell of %s with the value %s is rejected with its row and column',
  (column, cell, message) => {
    const cells = column === 'on_hand' ? ['A', cell] : ['A', '1', cell]
    const columns = column === 'on_hand' ? ['sku', 'on_hand'] : ['sku', 'on_hand', column]
    expect(read(columns, cells)).toEqual([{ row: 7, variant: 'A', column, message }])
  }
)

test('a stock row without a variant, with an invalid id or with too few or many cells is rejected', () => {
  expect(read(['sku', 'on_hand'], ['', '1'])).toMatchObject([{ variant: null, column: 'sku' }])
  expect(read(['variant_id', 'on_hand'], ['17', '1'])).toMatchObject([{ column: 'variant_id' }])
  expect(read(['sku', 'on_hand'], ['A'])).toEqual([
    { row: 7, variant: 'A', message: 'The row has 1 columns where the header has 2.' }
  ])
})

test('a stock file without a variant column or without a value column is rejected', () => {
  expect(parseStockCsvHeader(['Handle', 'on_hand'])).toEqual({
    problem: 'These columns are missing: variant_id or sku.'
  })
  expect(parseStockCsvHeader(['sku', 'location'])).toEqual({ problem: 'These columns are missing: on_hand.' })
  expect(parseStockCsvHeader(['sku;on_hand'])).toMatchObject({
    problem: expect.stringContaining('by commas')
  })
})

test('rows of a stock file that count a level twice or contradict a stock policy are found', () => {
  const contradictionOf = createStockCsvRowConflictFinder()
  const columns = ['sku', 'location', 'on_hand', 'low_threshold']
  const header = headerOf(...columns)
  const find = (row: number, ...cells: string[]) => {
    const parsed = parseStockCsvRow({ row, cells }, header)
    return Array.isArray(parsed) ? parsed : contradictionOf(parsed)
  }
  expect(find(2, 'A', 'main', '1', '')).toBeUndefined()
  expect(find(3, 'A', 'east', '1', '4')).toBeUndefined()
  expect(find(4, 'A', 'Main', '2', '')).toBe('Row 2 counts the same variant at the same location.')
  expect(find(5, 'A', 'west', '1', '5')).toBe('Earlier rows set another stock policy for the variant.')
  expect(find(6, 'A', 'north', '1', '4')).toBeUndefined()
  expect(find(7, 'A', 'main', '', '')).toBeUndefined()
})
