import { copyOf, type Ignored } from './report.ts'

/** The columns that are read, and what Shopify's exports have called them, the older name first. */
const HEADINGS = {
  handle: ['Handle', 'URL handle'],
  title: ['Title'],
  body: ['Body (HTML)', 'Description'],
  vendor: ['Vendor'],
  type: ['Type'],
  tags: ['Tags'],
  published: ['Published', 'Published on online store'],
  status: ['Status'],
  option1Name: ['Option1 Name'],
  option1Value: ['Option1 Value'],
  option2Name: ['Option2 Name'],
  option2Value: ['Option2 Value'],
  option3Name: ['Option3 Name'],
  option3Value: ['Option3 Value'],
  sku: ['Variant SKU', 'SKU'],
  grams: ['Variant Grams', 'Weight value (grams)'],
  price: ['Variant Price', 'Price'],
  compareAtPrice: ['Variant Compare At Price', 'Compare-at price'],
  barcode: ['Variant Barcode', 'Barcode'],
  requiresShipping: ['Variant Requires Shipping', 'Requires shipping'],
  inventoryTracker: ['Variant Inventory Tracker', 'Inventory tracker'],
  inventoryQty: ['Variant Inventory Qty', 'Inventory quantity'],
  inventoryPolicy: ['Variant Inventory Policy', 'Continue selling when out of stock'],
  variantImage: ['Variant Image', 'Variant image URL'],
  imageSrc: ['Image Src', 'Product image URL'],
  imagePosition: ['Image Position'],
  imageAlt: ['Image Alt Text']
} as const
/** What is said of stock: read where somebody counts. */
export const STOCK_FIELDS = ['inventoryTracker', 'inventoryQty', 'inventoryPolicy'] as const
const REQUIRED = ['handle', 'title', 'price'] as const

const IGNORED_SHOWN_MAX = 100
const NAME_SHOWN_MAX = 100

export type Field = keyof typeof HEADINGS
export type Header = {
  /** How many columns every row must have. */
  width: number
  /** Where a field stands; absent when the file does not have it. */
  indexes: ReadonlyMap<Field, number>
  /** The columns of the file that are not read. */
  ignored: Ignored
  /** What the file calls it. */
  headingOf(field: Field): string
}

/** Finds the columns, in any order and among others, but for `unread`; or says why the file cannot be read. */
export function readHeader(
  cells: readonly string[],
  unread: readonly Field[] = []
): { header: Header } | { problem: string } {
  const names = cells.map(cell => cell.trim().toLowerCase())
  const fields = (Object.keys(HEADINGS) as Field[]).filter(field => !unread.includes(field))
  const indexes = new Map<Field, number>()
  for (const field of fields) {
    const headings = HEADINGS[field].map(heading => heading.toLowerCase())
    const index = names.findIndex(name => headings.includes(name))
    if (index !== -1) indexes.set(field, index)
  }
  const missing = REQUIRED.filter(field => !indexes.has(field)).map(field => HEADINGS[field][0])
  if (missing.length > 0)
    return { problem: `These columns are missing: ${missing.join(', ')}.${hint(cells)}` }
  return {
    header: {
      width: cells.length,
      indexes,
      ignored: ignoredOf(cells, new Set(indexes.values())),
      headingOf: field => cells[indexes.get(field) ?? -1]?.trim() ?? HEADINGS[field][0]
    }
  }
}

/** Those with nothing in the header are called by their place, the first being 1. */
function ignoredOf(cells: readonly string[], read: ReadonlySet<number>): Ignored {
  const places = [...cells.keys()].filter(index => !read.has(index))
  const names = places.slice(0, IGNORED_SHOWN_MAX).map(index => {
    const name = cells[index]?.trim() ?? ''
    return name === '' ? `column ${index + 1}` : copyOf(name.slice(0, NAME_SHOWN_MAX))
  })
  return { names, total: places.length }
}

function hint(cells: readonly string[]): string {
  const [only = ''] = cells
  const separator = [';', '\t', '|'].find(each => only.includes(each))
  if (cells.length > 1 || separator === undefined) return ''
  return ` The columns seem to be separated by ${separator === '\t' ? 'tabs' : separator}; they must be by commas.`
}
