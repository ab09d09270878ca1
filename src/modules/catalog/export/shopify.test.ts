import { Readable } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../../kernel/ids.ts'
import { readCsvRecords } from '../../../platform/csv/records.ts'
import { csvLine } from '../../../platform/csv/write.ts'
import { readShopifyCsvHeader, SHOPIFY_CSV_HEADINGS, type ShopifyCsvColumn } from '../import/header.ts'
import { groupCsvRowsByProduct } from '../import/rows.ts'
import { parseShopifyCsvProduct } from '../import/shopify.ts'
import type { ExportedProduct } from './repository.ts'
import { shopifyCsvRowsOfProduct } from './shopify.ts'

const FIELDS = Object.keys(SHOPIFY_CSV_HEADINGS) as ShopifyCsvColumn[]
const nothing = new Map()

/** The products that an import parses from the exported rows. */
async function readBack(products: readonly ExportedProduct[], stock = nothing) {
  const rows = products.flatMap(product => {
    const found = shopifyCsvRowsOfProduct(product, 'USD', stock)
    return 'rows' in found ? found.rows : []
  })
  const lines = [
    FIELDS.map(field => SHOPIFY_CSV_HEADINGS[field][0]),
    ...rows.map(row => FIELDS.map(field => row[field] ?? null))
  ]
  const [first, ...records] = await Array.fromAsync(
    readCsvRecords(Readable.from([Buffer.from(lines.map(csvLine).join(''))]))
  )
  const found = readShopifyCsvHeader(first?.cells ?? [])
  if (!('header' in found)) throw new Error(found.problem)
  const groups = groupCsvRowsByProduct(
    Readable.from(records) as AsyncIterable<(typeof records)[number]>,
    found.header
  )
  return Array.fromAsync(groups, group => parseShopifyCsvProduct(group, found.header, 'USD'))
}

const product = (fields: Partial<ExportedProduct> = {}): ExportedProduct => ({
  id: newId(),
  slug: 'mug',
  name: 'Mug',
  description: '',
  brand: null,
  status: 'active',
  tags: [],
  options: [],
  images: [],
  category: null,
  variants: [variant()],
  ...fields
})
const variant = (fields: object = {}) => ({
  id: newId(),
  sku: 'MUG',
  price_minor: 1_000,
  sale_price_minor: null,
  attributes: {},
  image_url: null,
  weight_grams: null,
  barcode: null,
  requires_shipping: true,
  ...fields
})

/** A line as the API accepts it: neither empty nor with surrounding blanks. */
const line = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .map(text =>
    text
      .slice(0, 60)
      .toWellFormed()
      .replace(/[\u0000-\u001f\u007f\ufffd]/g, '-')
      .trim()
  )
  .filter(text => text !== '' && text !== 'Default Title')
const word = line.filter(text => !text.includes(','))
const address = fc.webUrl().filter(url => !/[\s<>"]/.test(url))

const anyProduct = fc
  .record({
    name: line,
    description: fc.string({ unit: 'grapheme' }).map(text => text.toWellFormed().replaceAll('\0', '')),
    brand: fc.option(line),
    status: fc.constantFrom('draft', 'active', 'archived'),
    tags: fc.uniqueArray(word, { maxLength: 4 }),
    urls: fc.uniqueArray(address, { maxLength: 4 }),
    names: fc.uniqueArray(line, { maxLength: 3 }),
    values: fc.uniqueArray(line, { minLength: 1, maxLength: 4 }),
    category: fc.option(line),
    prices: fc.array(fc.tuple(fc.nat(1_000_000), fc.option(fc.nat(1_000_000))), {
      minLength: 4,
      maxLength: 4
    }),
    skus: fc.uniqueArray(line, { minLength: 4, maxLength: 4 }),
    barcode: fc.option(line),
    grams: fc.option(fc.nat(100_000))
  })
  .map(({ urls, names, values, prices, skus, category, barcode, grams, ...fields }) => {
    const count = names.length === 0 ? 1 : values.length
    const variants = Array.from({ length: count }, (_, index) => {
      const [price = 0, sale = null] = prices[index] ?? []
      return variant({
        sku: skus[index],
        price_minor: price,
        barcode,
        weight_grams: grams,
        sale_price_minor: sale !== null && sale < price ? sale : null,
        attributes: Object.fromEntries(names.map(name => [name, values[index]]))
      })
    })
    return product({
      ...(fields as Partial<ExportedProduct>),
      options: names.map(name => ({ name, values })),
      images: urls.map(url => ({ url, alt: null })),
      category: category === null ? null : { slug: '', name: category },
      variants
    })
  })

test('a product that is exported and imported is unchanged, whatever its texts contain', async () => {
  await fc.assert(
    fc.asyncProperty(anyProduct, async given => {
      const { slug, name, description, brand, status, tags, options, images } = given
      expect(await readBack([given])).toMatchObject([
        {
          draft: {
            slug,
            fields: { name, description, brand, status, tags, options, images },
            variants: (given.variants ?? []).map(({ sku, price_minor, sale_price_minor, ...rest }) => {
              const { attributes, weight_grams, barcode, requires_shipping } = rest
              return {
                sku,
                fields: {
                  price_minor,
                  sale_price_minor,
                  attributes,
                  weight_grams,
                  barcode,
                  requires_shipping
                }
              }
            })
          }
        }
      ])
    }),
    { numRuns: 200 }
  )
})

test('the product export has the stock of tracked variants, and none of untracked ones', async () => {
  const [counted, uncounted] = [
    variant({ sku: 'A', attributes: { Size: 'S' } }),
    variant({ sku: 'B', attributes: { Size: 'M' } })
  ]
  const stock = new Map([[counted.id, { tracked: true, backorder: 'any', onHand: -2 }]])
  expect(await readBack([product({ variants: [counted, uncounted] })], stock)).toMatchObject([
    {
      draft: {
        variants: [{ stock: { tracked: true, backorder: 'any', onHand: -2 } }, { stock: { tracked: false } }]
      }
    }
  ])
})

test.each<[string, Partial<ExportedProduct>, RegExp]>([
  ['without variants', { variants: null }, /^No variant/],
  [
    'whose variants have four options',
    { variants: [variant({ attributes: { a: '1', b: '2', c: '3', d: '4' } })] },
    /more than 3/
  ],
  [
    'with a variant without an option value',
    { variants: [variant({ attributes: { a: '1' } }), variant({ attributes: {} })] },
    /no value for an option/
  ]
])('a product %s is left out of the export, with the reason', (_what, fields, reason) => {
  expect(shopifyCsvRowsOfProduct(product(fields), 'USD', nothing)).toEqual({
    problem: expect.stringMatching(reason)
  })
})
