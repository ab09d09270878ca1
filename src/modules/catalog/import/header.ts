import {
  type CsvColumnPositions,
  findCsvColumns,
  missingCsvColumnsMessage
} from '../../../platform/csv/columns.ts'

/**
 * The columns that are read, with their headings in Shopify's exports. The export writes the first, older
 * heading.
 */
export const SHOPIFY_CSV_HEADINGS = {
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
/** Columns of stock. They are read only in a shop with an inventory. */
export const SHOPIFY_CSV_STOCK_COLUMNS = ['inventoryTracker', 'inventoryQty', 'inventoryPolicy'] as const
const REQUIRED = ['handle', 'title', 'price'] as const

export type ShopifyCsvColumn = keyof typeof SHOPIFY_CSV_HEADINGS
export type ShopifyCsvHeader = CsvColumnPositions<ShopifyCsvColumn>

/**
 * Finds the columns, except `unread`, in any order and among other columns. Returns a problem if one is
 * missing.
 */
export function readShopifyCsvHeader(
  cells: readonly string[],
  unread: readonly ShopifyCsvColumn[] = []
): { header: ShopifyCsvHeader } | { problem: string } {
  const read = Object.entries(SHOPIFY_CSV_HEADINGS).filter(
    ([field]) => !unread.includes(field as ShopifyCsvColumn)
  )
  const header = findCsvColumns<ShopifyCsvColumn>(cells, Object.fromEntries(read))
  const missing = REQUIRED.filter(field => !header.indexes.has(field)).map(
    field => SHOPIFY_CSV_HEADINGS[field][0]
  )
  return missing.length > 0 ? { problem: missingCsvColumnsMessage(missing, cells) } : { header }
}
