import { expect, test } from 'vitest'
import { readShopifyCsvHeader } from './header.ts'
import { groupCsvRowsByProduct } from './rows.ts'

test('an import lists the columns that it ignores, a hundred at most', () => {
  const found = readShopifyCsvHeader([
    'Handle',
    'Title',
    'Price',
    ' Cost per item ',
    '',
    'Title',
    'x'.repeat(500)
  ])
  expect('header' in found && found.header.ignored).toEqual({
    names: ['Cost per item', 'column 5', 'Title', 'x'.repeat(100)],
    total: 4
  })
  const many = readShopifyCsvHeader([
    'Handle',
    'Title',
    'Price',
    ...Array.from({ length: 200_000 }, () => 'more')
  ])
  expect('header' in many && many.header.ignored).toEqual({ names: Array(100).fill('more'), total: 200_000 })
})

test('an import finds columns in any order, by their older and newer names, in any letter case', () => {
  const found = readShopifyCsvHeader(['price', 'Some Metafield', ' TITLE ', 'URL handle'])
  if (!('header' in found)) throw new Error(found.problem)
  expect(found.header.indexes).toEqual(
    new Map([
      ['price', 0],
      ['title', 2],
      ['handle', 3]
    ])
  )
  expect(found.header.headingOf('handle')).toBe('URL handle')
  expect(found.header.headingOf('sku')).toBe('Variant SKU')
})

test('an import file whose header lacks columns is rejected with their names and a possible reason', () => {
  expect(readShopifyCsvHeader(['Handle', 'Body'])).toEqual({
    problem: 'These columns are missing: Title, Variant Price.'
  })
  expect(readShopifyCsvHeader(['Handle;Title;Variant Price'])).toEqual({
    problem:
      'These columns are missing: Handle, Title, Variant Price. The columns seem to be separated by ;; they must be by commas.'
  })
})

test('consecutive import rows with one handle are a product, and rows above the limit are cut off', async () => {
  const found = readShopifyCsvHeader(['Handle', 'Title', 'Variant Price'])
  if (!('header' in found)) throw new Error(found.problem)
  async function* rows(handles: string[]) {
    for (const [index, handle] of handles.entries()) yield { row: index + 2, cells: [handle, '', ''] }
  }
  const groups = await Array.fromAsync(groupCsvRowsByProduct(rows(['a', ' a ', 'b', 'a']), found.header))
  expect(groups.map(group => [group.handle, group.rows.map(({ row }) => row)])).toEqual([
    ['a', [2, 3]],
    ['b', [4]],
    ['a', [5]]
  ])
  const [huge] = await Array.fromAsync(
    groupCsvRowsByProduct(rows(Array.from({ length: 5_000 }, () => 'a')), found.header)
  )
  expect([huge?.rows.length, huge?.problem]).toEqual([1_000, 'The product has more than 1000 rows.'])
})

test('an imported product is also cut when its rows are large', async () => {
  const found = readShopifyCsvHeader(['Handle', 'Title', 'Variant Price'])
  if (!('header' in found)) throw new Error(found.problem)
  async function* rows(...titleLengths: number[]) {
    for (const [index, length] of titleLengths.entries())
      yield { row: index + 2, cells: ['a', 'x'.repeat(length), ''] }
  }
  const [large] = await Array.fromAsync(
    groupCsvRowsByProduct(rows(5_000_000, 3_000_000, 1_000_000, 1), found.header)
  )
  expect([large?.rows.length, large?.problem]).toEqual([
    2,
    'The rows of the product have more than 8388608 bytes.'
  ])
  const [single] = await Array.fromAsync(groupCsvRowsByProduct(rows(8_000_000), found.header))
  expect([single?.rows.length, single?.problem]).toEqual([1, null])
})
