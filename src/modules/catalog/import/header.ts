import { type Columns, findColumns, missingColumns } from '../../../platform/csv/columns.ts'

/** The columns that are read, and what Shopify's exports have called them, the older name first: it is written. */
export const HEADINGS = {
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

export type Field = keyof typeof HEADINGS
export type Header = Columns<Field>

/** Finds the columns, in any order and among others, but for `unread`; or says why the file cannot be read. */
export function readHeader(
  cells: readonly string[],
  unread: readonly Field[] = []
): { header: Header } | { problem: string } {
  const read = Object.entries(HEADINGS).filter(([field]) => !unread.includes(field as Field))
  const header = findColumns<Field>(cells, Object.fromEntries(read))
  const missing = REQUIRED.filter(field => !header.indexes.has(field)).map(field => HEADINGS[field][0])
  return missing.length > 0 ? { problem: missingColumns(missing, cells) } : { header }
}
