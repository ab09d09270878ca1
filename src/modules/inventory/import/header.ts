import { type Columns, findColumns, missingColumns } from '../../../platform/csv/columns.ts'

/** The columns that are read: what our own export calls them, and what Shopify's export of an inventory does. */
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

export type Field = keyof typeof HEADINGS
export type Header = Columns<Field>

/** Finds the columns, or says why the file cannot be read. */
export function readHeader(cells: readonly string[]): { header: Header } | { problem: string } {
  const header = findColumns<Field>(cells, HEADINGS)
  const { indexes } = header
  if (!indexes.has('variantId') && !indexes.has('sku'))
    return { problem: missingColumns(['variant_id or sku'], cells) }
  const says = [...indexes.keys()].some(
    field => !['variantId', 'sku', 'location', 'sourceVersion'].includes(field)
  )
  return says ? { header } : { problem: missingColumns(['on_hand'], cells) }
}
