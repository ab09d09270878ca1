import { IMAGE_ALT_LENGTH_MAX, SLUG_LENGTH_MAX, SLUG_PATTERN } from '../products/fields.ts'
import {
  IMAGES_PER_PRODUCT_MAX,
  PRODUCT_DESCRIPTION_LENGTH_MAX,
  PRODUCT_NAME_LENGTH_MAX,
  TAG_LENGTH_MAX,
  TAGS_PER_PRODUCT_MAX
} from '../products/schema.ts'
import { normalizeSlug } from '../products/slug.ts'
import { defaultVariantName } from '../variants/row.ts'
import { BARCODE_LENGTH_MAX, SKU_LENGTH_MAX } from '../variants/schema.ts'
import { createProductCsvCellReader, type ProductCsvCellReader } from './cells.ts'
import { type ProductImportRowWithOptions, readImportedProductOptions } from './choices.ts'
import type { ShopifyCsvHeader } from './header.ts'
import type { ImportedProduct, ImportedVariant, ImportedVariantStock } from './imported-product.ts'
import type { ProductImportProblem } from './report.ts'
import type { ProductCsvRowGroup, ProductImportRow } from './rows.ts'

type Parsed = { draft: ImportedProduct } | { problems: ProductImportProblem[] }
type Fields = ImportedProduct['fields']

const slugPattern = new RegExp(SLUG_PATTERN, 'u')

/**
 * Parses the rows of one product in a Shopify export. The first row has the product's fields. Each row with a
 * price, an SKU or option values is a variant, and each row with an image URL is an image.
 */
export function parseShopifyCsvProduct(
  { handle, rows, problem }: ProductCsvRowGroup,
  header: ShopifyCsvHeader,
  currency: string
): Parsed {
  const cells = createProductCsvCellReader(handle, header, currency)
  const [first] = rows
  if (first === undefined) throw new RangeError('a group has a row')
  const uneven = rows.find(row => row.width !== header.width)
  if (uneven !== undefined) {
    const message = `The row has ${uneven.width} columns where the header has ${header.width}.`
    return { problems: [{ row: uneven.row, handle: handle || null, message }] }
  }
  if (handle === '') cells.reject(first, 'handle', 'This is missing.')
  else if (!slugPattern.test(handle) || handle.length > SLUG_LENGTH_MAX)
    cells.reject(first, 'handle', 'A handle is letters, digits, hyphens and underscores, 255 at most.')
  if (problem !== null) cells.reject(first, 'handle', problem)

  const { options, choices } = readImportedProductOptions(cells, rows, first)
  const variants = choices.map(({ row, attributes }) => readVariant(cells, row, first, attributes))
  rejectDuplicateSkus(cells, choices, variants)
  const draft: ImportedProduct = {
    row: first.row,
    slug: normalizeSlug(handle),
    fields: { ...readProduct(cells, first), ...readImages(cells, rows), options },
    variants
  }
  const type = cells.text(first, 'type', PRODUCT_NAME_LENGTH_MAX)
  if (type !== undefined) draft.type = type === '' ? null : type
  return cells.problems.length > 0 ? { problems: cells.problems } : { draft }
}

function readProduct(cells: ProductCsvCellReader, row: ProductImportRow): Omit<Fields, 'options'> {
  const name = cells.text(row, 'title', PRODUCT_NAME_LENGTH_MAX) ?? ''
  if (name === '') cells.reject(row, 'title', 'This is missing.')
  const fields: Omit<Fields, 'options'> = { name }
  const description = row.cell('body')?.replaceAll('\0', '')
  if (description !== undefined) fields.description = description
  if ((description ?? '').length > PRODUCT_DESCRIPTION_LENGTH_MAX)
    cells.reject(row, 'body', `This is longer than ${PRODUCT_DESCRIPTION_LENGTH_MAX} characters.`)
  const brand = cells.text(row, 'vendor', PRODUCT_NAME_LENGTH_MAX)
  if (brand !== undefined) fields.brand = brand === '' ? null : brand
  const tags = readTags(cells, row)
  if (tags !== undefined) fields.tags = tags
  const status = readStatus(cells, row)
  if (status !== undefined) fields.status = status
  return fields
}

function readTags(cells: ProductCsvCellReader, row: ProductImportRow): string[] | undefined {
  const text = cells.text(row, 'tags', TAGS_PER_PRODUCT_MAX * (TAG_LENGTH_MAX + 2))
  if (text === undefined) return undefined
  const tags = [...new Set(text.split(',').map(tag => tag.trim()))].filter(tag => tag !== '')
  if (tags.length > TAGS_PER_PRODUCT_MAX || tags.some(tag => tag.length > TAG_LENGTH_MAX))
    cells.reject(
      row,
      'tags',
      `At most ${TAGS_PER_PRODUCT_MAX} tags of ${TAG_LENGTH_MAX} characters are allowed.`
    )
  return tags
}

/** A product that is active but not published becomes a draft. */
function readStatus(cells: ProductCsvCellReader, row: ProductImportRow): Fields['status'] {
  const status = cells.text(row, 'status', PRODUCT_NAME_LENGTH_MAX)?.toLowerCase() ?? ''
  const published = cells.text(row, 'published', PRODUCT_NAME_LENGTH_MAX)?.toLowerCase() ?? ''
  if (status === 'draft' || status === 'archived') return status
  if (status !== '' && status !== 'active')
    cells.reject(row, 'status', 'This must be active, draft or archived.')
  if (published !== '') return published === 'false' ? 'draft' : 'active'
  return status === '' ? undefined : 'active'
}

function readImages(cells: ProductCsvCellReader, rows: readonly ProductImportRow[]): Pick<Fields, 'images'> {
  const found = new Map<string, { url: string; alt: string | null; position: number }>()
  for (const row of rows) {
    const url = cells.url(row, 'imageSrc')
    if (url === undefined) return {}
    if (url === null || found.has(url)) continue
    const alt = cells.text(row, 'imageAlt', IMAGE_ALT_LENGTH_MAX) || null
    const position = Number.parseInt(row.cell('imagePosition') ?? '', 10)
    found.set(url, { url, alt, position: position > 0 ? position : Number.MAX_SAFE_INTEGER })
    if (found.size > IMAGES_PER_PRODUCT_MAX) {
      cells.reject(row, 'imageSrc', `A product can have ${IMAGES_PER_PRODUCT_MAX} images.`)
      break
    }
  }
  const sorted = [...found.values()].sort((a, b) => a.position - b.position)
  return { images: sorted.map(({ url, alt }) => ({ url, alt })) }
}

function readVariant(
  cells: ProductCsvCellReader,
  row: ProductImportRow,
  first: ProductImportRow,
  attributes: Record<string, string>
): ImportedVariant {
  const price = cells.amount(row, 'price')
  if (price === null && (row.cell('price') ?? '').trim() === '')
    cells.reject(row, 'price', 'This is missing.')
  const compareAt = cells.amount(row, 'compareAtPrice')
  // Shopify shows no sale when the compare-at price is not above the price, for example 0.
  const isOnSale = price !== null && compareAt !== null && compareAt > price
  const fields: ImportedVariant['fields'] = {
    name: defaultVariantName(Object.values(attributes), (first.cell('title') ?? '').trim()),
    price_minor: (isOnSale ? compareAt : price) ?? 0,
    sale_price_minor: isOnSale ? price : null,
    attributes
  }
  const image = cells.url(row, 'variantImage')
  if (image !== undefined) fields.image_url = image
  const grams = cells.grams(row)
  if (grams !== undefined) fields.weight_grams = grams
  const barcode = cells.text(row, 'barcode', BARCODE_LENGTH_MAX)
  if (barcode !== undefined) fields.barcode = withoutApostrophe(barcode) || null
  const requiresShipping = cells.flag(row, 'requiresShipping')
  if (requiresShipping !== undefined) fields.requires_shipping = requiresShipping
  const sku = withoutApostrophe(cells.text(row, 'sku', SKU_LENGTH_MAX) ?? '')
  return { row: row.row, sku: sku === '' ? null : sku, fields, stock: readStock(cells, row) }
}

/** Stock is tracked when the file names an inventory tracker, or has no such column but a quantity. */
function readStock(cells: ProductCsvCellReader, row: ProductImportRow): ImportedVariantStock {
  const stock: ImportedVariantStock = {}
  const tracker = cells.text(row, 'inventoryTracker', PRODUCT_NAME_LENGTH_MAX)
  const onHand = cells.count(row, 'inventoryQty')
  if (tracker !== undefined) stock.tracked = tracker !== ''
  else if (onHand !== undefined) stock.tracked = true
  if (onHand !== undefined) stock.onHand = onHand
  const policy = cells.text(row, 'inventoryPolicy', PRODUCT_NAME_LENGTH_MAX)?.toLowerCase() ?? ''
  if (policy === 'continue' || policy === 'true') stock.backorder = 'any'
  else if (policy === 'deny' || policy === 'false') stock.backorder = 'none'
  else if (policy !== '') cells.reject(row, 'inventoryPolicy', 'This must be deny or continue.')
  return stock
}

// Shopify prefixes long numbers with an apostrophe, so that spreadsheets do not round them.
const withoutApostrophe = (text: string) => text.replace(/^'(?='*\d)/, '')

function rejectDuplicateSkus(
  cells: ProductCsvCellReader,
  choices: readonly ProductImportRowWithOptions[],
  variants: readonly ImportedVariant[]
): void {
  const rowOfSku = new Map<string, number>()
  for (const [index, { row }] of choices.entries()) {
    const sku = variants[index]?.sku ?? null
    if (sku === null) continue
    const earlier = rowOfSku.get(sku)
    if (earlier !== undefined) cells.reject(row, 'sku', `Row ${earlier} of the product has the same SKU.`)
    rowOfSku.set(sku, earlier ?? row.row)
  }
}
