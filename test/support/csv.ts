import type { CatalogApp } from './catalog.ts'

/** Sends a product file by the administrator's route. */
export const importFile = (app: CatalogApp, body: Buffer | string, mode = 'best_effort') =>
  app.request('POST', `/api/catalog/import?mode=${mode}`, {
    token: 'admin',
    headers: { 'content-type': 'text/csv' },
    body
  })

const COLUMNS = ['Handle', 'Title', 'Type', 'Option1 Name', 'Option1 Value', 'Variant SKU', 'Variant Price']

/** A product file of rows that give some of its columns, and others. */
export function csvOf(rows: readonly Record<string, string | number>[]): string {
  const columns = [...new Set([...COLUMNS, ...rows.flatMap(row => Object.keys(row))])]
  return [columns, ...rows.map(row => columns.map(column => row[column] ?? ''))]
    .map(cells => cells.join(','))
    .join('\n')
}

/** A row of a product sold in sizes. */
export const sized = (handle: string, size: string, sku = '', price: string | number = 10) => ({
  Handle: handle,
  Title: `The ${handle}`,
  'Option1 Name': 'Size',
  'Option1 Value': size,
  'Variant SKU': sku,
  'Variant Price': price
})
