import {
  type CsvColumnPositions,
  findCsvColumns,
  missingCsvColumnsMessage
} from '../../../platform/csv/columns.ts'

/** Recognized columns and their headings: of our own export, and of Shopify's inventory export. */
const HEADINGS = {
  variantId: ['variant_id'],
  sku: ['sku'],
  location: ['location'],
  onHand: ['on_hand', 'On hand (new)', 'On hand'],
  safety: ['safety'],
  tracked: ['tracked'],
  backorder: ['backorder'],
  backorderLimit: ['backorder_limit'],
  lowThreshold: ['low_threshold'],
  sourceVersion: ['source_version']
} as const

export type StockCsvField = keyof typeof HEADINGS
export type StockCsvHeader = CsvColumnPositions<StockCsvField>

/** Finds the columns, or returns why the file cannot be read. */
export function parseStockCsvHeader(
  cells: readonly string[]
): { header: StockCsvHeader } | { problem: string } {
  const header = findCsvColumns<StockCsvField>(cells, HEADINGS)
  const { indexes } = header
  if (!indexes.has('variantId') && !indexes.has('sku'))
    return { problem: missingCsvColumnsMessage(['variant_id or sku'], cells) }
  const says = [...indexes.keys()].some(
    field => !['variantId', 'sku', 'location', 'sourceVersion'].includes(field)
  )
  return says ? { header } : { problem: missingCsvColumnsMessage(['on_hand'], cells) }
}
