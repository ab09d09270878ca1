import { expect, test } from 'vitest'
import { readShopifyCsvHeader, type ShopifyCsvColumn } from './header.ts'
import { parseShopifyCsvProduct } from './shopify.ts'
import { deriveVariantSku } from './sku.ts'

const HEADINGS: Partial<Record<ShopifyCsvColumn, string>> = {
  handle: 'Handle',
  title: 'Title',
  body: 'Body (HTML)',
  vendor: 'Vendor',
  type: 'Type',
  tags: 'Tags',
  published: 'Published',
  status: 'Status',
  price: 'Variant Price',
  sku: 'Variant SKU',
  option1Name: 'Option1 Name',
  option1Value: 'Option1 Value',
  grams: 'Variant Grams',
  option2Name: 'Option2 Name',
  option2Value: 'Option2 Value',
  compareAtPrice: 'Variant Compare At Price',
  imageSrc: 'Image Src',
  imagePosition: 'Image Position',
  imageAlt: 'Image Alt Text',
  barcode: 'Variant Barcode',
  variantImage: 'Variant Image',
  requiresShipping: 'Variant Requires Shipping',
  inventoryTracker: 'Variant Inventory Tracker',
  inventoryQty: 'Variant Inventory Qty',
  inventoryPolicy: 'Variant Inventory Policy'
}
type Cells = Partial<Record<ShopifyCsvColumn, string>>
const first: Cells = { handle: 'mug', title: 'Mug', price: '10.00' }

/** Parses a product of rows 2, 3, …; the file has the columns that any row uses. */
function read(rows: Cells[], currency = 'USD') {
  const fields = [...new Set(rows.flatMap(row => Object.keys(row)))] as ShopifyCsvColumn[]
  const found = readShopifyCsvHeader(fields.map(field => HEADINGS[field] ?? ''))
  if (!('header' in found)) throw new Error(found.problem)
  const { header } = found
  const group = rows.map((row, index) => ({
    row: index + 2,
    width: fields.length,
    cell: (field: ShopifyCsvColumn) => (fields.includes(field) ? (row[field] ?? '') : undefined)
  }))
  return parseShopifyCsvProduct(
    { handle: rows[0]?.handle ?? '', rows: group, size: 0, problem: null },
    header,
    currency
  )
}

function draftOf(...rows: Cells[]) {
  const parsed = read(rows)
  if (!('draft' in parsed)) throw new Error(JSON.stringify(parsed.problems))
  return parsed.draft
}

function problemsOf(...rows: Cells[]) {
  const parsed = read(rows)
  return 'problems' in parsed ? parsed.problems.map(({ row, column }) => `${row} ${column}`) : []
}

test('a missing column leaves the field of an imported product absent, and an empty cell clears it', () => {
  expect(draftOf(first).fields).toEqual({ name: 'Mug', options: [] })
  expect(draftOf({ ...first, body: '', vendor: '', tags: '', imageSrc: '', type: '' })).toMatchObject({
    fields: { description: '', brand: null, tags: [], images: [] },
    type: null
  })
})

test("an imported variant's requires_shipping is true, false or absent", () => {
  const shipping = (requiresShipping: string) =>
    draftOf({ ...first, requiresShipping }).variants[0]?.fields.requires_shipping
  expect(['TRUE', ' false', ''].map(shipping)).toEqual([true, false, undefined])
  expect(problemsOf({ ...first, requiresShipping: 'yes' })).toEqual(['2 Variant Requires Shipping'])
})

test("an imported variant's stock has tracking, quantity and backorder policy", () => {
  const stockOf = (cells: Cells) => draftOf({ ...first, ...cells }).variants[0]?.stock
  expect(stockOf({})).toEqual({})
  expect(stockOf({ inventoryTracker: 'shopify', inventoryQty: '12', inventoryPolicy: 'deny' })).toEqual({
    tracked: true,
    onHand: 12,
    backorder: 'none'
  })
  expect(stockOf({ inventoryTracker: '', inventoryQty: '12', inventoryPolicy: 'continue' })).toEqual({
    tracked: false,
    onHand: 12,
    backorder: 'any'
  })
  expect(stockOf({ inventoryQty: ' -3 ', inventoryPolicy: 'TRUE' })).toEqual({
    tracked: true,
    onHand: -3,
    backorder: 'any'
  })
  expect(stockOf({ inventoryTracker: 'x', inventoryQty: '', inventoryPolicy: '' })).toEqual({ tracked: true })
  expect(problemsOf({ ...first, inventoryQty: '1.5' })).toEqual(['2 Variant Inventory Qty'])
  expect(problemsOf({ ...first, inventoryQty: '2000000000' })).toEqual(['2 Variant Inventory Qty'])
  expect(problemsOf({ ...first, inventoryPolicy: 'maybe' })).toEqual(['2 Variant Inventory Policy'])
})

test('an import makes the price a sale price only if the compare-at price is above it', () => {
  const prices = (price: string, compareAtPrice: string) => {
    const { price_minor, sale_price_minor } =
      draftOf({ ...first, price, compareAtPrice }).variants[0]?.fields ?? {}
    return [price_minor, sale_price_minor]
  }
  expect(prices('20.00', '28.00')).toEqual([2_800, 2_000])
  expect(prices('20.00', '20.00')).toEqual([2_000, null])
  expect(prices('20', '')).toEqual([2_000, null])
  expect(prices('0', '0.00')).toEqual([0, null])
  expect(prices('20.00', '0.00')).toEqual([2_000, null])
  expect(prices('20.00', '19.99')).toEqual([2_000, null])
})

test('imported amounts have the decimals of the currency', () => {
  const priceIn = (price: string, currency: string) => {
    const parsed = read([{ ...first, price }], currency)
    return 'draft' in parsed ? parsed.draft.variants[0]?.fields.price_minor : 'refused'
  }
  expect(priceIn('1500', 'JPY')).toBe(1_500)
  expect(priceIn('1500.00', 'JPY')).toBe(1_500)
  expect(priceIn('1500.5', 'JPY')).toBe('refused')
  expect(priceIn('1.234', 'KWD')).toBe(1_234)
})

test('an invalid price in an import file is rejected with its row and column', () => {
  for (const price of ['', 'ten', '-1', '1,000.00', '1e3', '9.995', '99999999999'])
    expect([price, problemsOf({ ...first, price })]).toEqual([price, ['2 Variant Price']])
  expect(problemsOf({ ...first, compareAtPrice: 'x' })).toEqual(['2 Variant Compare At Price'])
  expect(problemsOf({ ...first, grams: 'heavy' })).toEqual(['2 Variant Grams'])
  expect(problemsOf({ ...first, title: '' })).toEqual(['2 Title'])
  expect(problemsOf({ ...first, title: 'x'.repeat(256) })).toEqual(['2 Title'])
  expect(problemsOf({ ...first, title: 'caf\ufffd' })).toEqual(['2 Title'])
  expect(problemsOf({ ...first, body: 'x'.repeat(200_001) })).toEqual(['2 Body (HTML)'])
  expect(problemsOf({ ...first, status: 'sold' })).toEqual(['2 Status'])
  for (const handle of ['', 'a b', 'a/b', 'a?b', '.', 'x'.repeat(256)])
    expect(problemsOf({ ...first, handle })).toEqual(['2 Handle'])
})

test('an imported product with the only option value Default Title has no options', () => {
  const { fields, variants } = draftOf({ ...first, option1Name: 'Title', option1Value: 'Default Title' })
  expect(fields.options).toEqual([])
  expect(variants).toMatchObject([{ sku: null, fields: { name: 'Mug', attributes: {} } }])
})

test('import rows with a price, an SKU or options are variants, and rows with an image address are images', () => {
  const { fields, variants } = draftOf(
    { ...first, option1Name: 'Size', option1Value: 'S', option2Name: 'Colour', option2Value: 'Red' },
    { handle: 'mug', option1Value: 'L', option2Value: 'Red', price: '12.00', sku: 'L-RED' },
    { handle: 'mug', imageSrc: 'https://example.com/2.png', imagePosition: '2' },
    { handle: 'mug', imageSrc: 'https://example.com/1.png', imagePosition: '1', imageAlt: 'One' },
    { handle: 'mug', imageSrc: 'https://example.com/1.png', imagePosition: '3' }
  )
  expect(fields.options).toEqual([
    { name: 'Size', values: ['S', 'L'] },
    { name: 'Colour', values: ['Red'] }
  ])
  expect(fields.images).toEqual([
    { url: 'https://example.com/1.png', alt: 'One' },
    { url: 'https://example.com/2.png', alt: null }
  ])
  expect(variants).toMatchObject([
    { row: 2, fields: { name: 'S / Red', attributes: { Size: 'S', Colour: 'Red' } } },
    { row: 3, sku: 'L-RED', fields: { name: 'L / Red', price_minor: 1_200 } }
  ])
})

test('repeated options or SKUs in an imported product are rejected', () => {
  const options = { option1Name: 'Size', option1Value: 'S' }
  expect(problemsOf({ ...first, ...options }, { ...first, option1Value: 'S' })).toEqual(['3 Option1 Value'])
  expect(problemsOf({ ...first, ...options, sku: 'A' }, { ...first, option1Value: 'M', sku: 'A' })).toEqual([
    '3 Variant SKU'
  ])
  expect(problemsOf({ ...first, ...options, option2Name: 'Size', option2Value: 'S' })).toEqual([
    '2 Option1 Name'
  ])
})

test.each<[string, Cells[], string[]]>([
  [
    'without a value of an option that others have',
    [{ option1Name: 'Size', option1Value: 'S' }, { price: '1' }],
    ['3 Option1 Value']
  ],
  [
    'without a value of the second option',
    [
      { option1Name: 'Size', option1Value: 'S', option2Name: 'Colour', option2Value: 'Red' },
      { option1Value: 'M' }
    ],
    ['3 Option2 Value']
  ],
  [
    'with a value of an option without a name',
    [{ option1Name: 'Size', option1Value: 'S', option2Name: '', option2Value: 'Red' }],
    ['2 Option2 Value']
  ],
  [
    'called Default Title beside others',
    [{ option1Name: 'Title', option1Value: 'Default Title' }, { option1Value: 'Large' }],
    ['2 Option1 Value']
  ],
  [
    'called Default Title with a second option',
    [{ option1Name: 'Title', option1Value: 'Default Title', option2Name: 'Colour', option2Value: 'Red' }],
    ['2 Option1 Value']
  ],
  [
    'called Default Title twice',
    [{ option1Name: 'Title', option1Value: 'Default Title' }, { option1Value: 'Default Title' }],
    ['3 Option1 Value']
  ]
])(
  'imported variants %s cannot be told apart by a shopper, and are rejected by row',
  (_what, [cells, ...others], problems) => {
    const rows = [{ ...first, ...cells }, ...others.map(other => ({ handle: 'mug', price: '1', ...other }))]
    expect(problemsOf(...rows)).toEqual(problems)
  }
)

test('an option without values in an import file is ignored', () => {
  const { fields, variants } = draftOf({ ...first, option1Name: 'Size', option1Value: '' })
  expect([fields.options, variants[0]?.fields.attributes]).toEqual([[], {}])
})

test('the status and publication columns of an import decide whether a product is for sale', () => {
  const statusOf = (cells: Cells) => draftOf({ ...first, ...cells }).fields.status
  expect(statusOf({ published: 'true' })).toBe('active')
  expect(statusOf({ published: 'FALSE' })).toBe('draft')
  expect(statusOf({ published: '' })).toBeUndefined()
  expect(statusOf({ status: 'Active', published: 'true' })).toBe('active')
  expect(statusOf({ status: 'active', published: 'false' })).toBe('draft')
  expect(statusOf({ status: 'draft', published: 'true' })).toBe('draft')
  expect(statusOf({ status: 'archived', published: 'true' })).toBe('archived')
})

test('an import separates tags by commas, turns line breaks in names into blanks, and keeps HTML', () => {
  const { fields } = draftOf({ ...first, title: ' A\r\nmug ', tags: 'tea, big ,tea,,', body: ' <p>\n</p> ' })
  expect(fields).toMatchObject({ name: 'A mug', tags: ['tea', 'big'], description: ' <p>\n</p> ' })
})

test('imported numbers that were quoted for spreadsheets lose the apostrophe', () => {
  const [variant] = draftOf({ ...first, sku: "'0012", barcode: "'0400638" }).variants
  expect(variant).toMatchObject({ sku: '0012', fields: { barcode: '0400638' } })
})

test('images in an import file must have an http or https address', () => {
  for (const imageSrc of ['javascript:alert(1)', 'data:text/html,x', '/a.png', 'https://'])
    expect(problemsOf({ ...first, imageSrc })).toEqual(['2 Image Src'])
  expect(problemsOf({ ...first, variantImage: 'ftp://example.com' })).toEqual(['2 Variant Image'])
})

test('an imported product has 250 variants and 250 images at most', () => {
  const sizes = Array.from({ length: 251 }, (_, index) => ({
    ...first,
    option1Name: 'Size',
    option1Value: `${index}`
  }))
  expect(problemsOf(...sizes)).toEqual(['2 Handle'])
  const images = Array.from({ length: 251 }, (_, index) => ({ imageSrc: `https://example.com/${index}.png` }))
  expect(problemsOf(first, ...images)).toEqual(['253 Image Src'])
})

test('the SKU that an import derives is stable, and differs between products and options', () => {
  const none = new Set<string>()
  expect(deriveVariantSku('linen-shirt', ['Crème brûlée', 'S/M'], none)).toBe('LINEN-SHIRT.CREME-BRULEE.S-M')
  expect(deriveVariantSku('shirt-red', [], none)).not.toBe(deriveVariantSku('shirt', ['Red'], none))
  const taken = new Set([deriveVariantSku('shirt', ['S/M'], none)])
  const other = deriveVariantSku('shirt', ['S-M'], taken)
  expect(taken.has(other)).toBe(false)
  expect(deriveVariantSku('shirt', ['S-M'], taken)).toBe(other)
  expect(deriveVariantSku('x'.repeat(255), ['y'.repeat(255)], none).length).toBeLessThanOrEqual(255)
})
