import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { currencyDecimalPlaces } from '../kernel/money.ts'

const require = createRequire(import.meta.url)
const CATALOG_FILE = new URL('../../demo/catalog.csv', import.meta.url)
const AMOUNTS = ['Variant Price', 'Variant Compare At Price', 'Cost per item']

/** The URL of a shop with default settings, which the file uses for its pictures. */
const DEFAULT_URL = 'http://127.0.0.1:8080'
export const DEMO_PICTURES_PATH = '/demo/'

/** Returns the demo catalog as CSV, with prices in a currency and pictures below `url`. */
export async function readDemoCatalog(currency: string, url: string): Promise<string> {
  const file = await readFile(CATALOG_FILE, 'utf8')
  return convertDemoPrices(
    currency,
    file.replaceAll(DEFAULT_URL + DEMO_PICTURES_PATH, url + DEMO_PICTURES_PATH)
  )
}

/**
 * Adapts the prices of the file, which have two decimals, to a currency. The number stays the same in every currency with
 * decimals. In a currency without decimals each cent becomes one unit: 18.00 becomes 1800 yen.
 */
export function convertDemoPrices(currency: string, file: string): string {
  if (currencyDecimalPlaces[currency] !== 0) return file
  const { parse } = require('csv-parse/sync') as typeof import('csv-parse/sync')
  const [header = [], ...rows]: string[][] = parse(file)
  const isAmount = header.map(name => AMOUNTS.includes(name))
  const converted = rows.map(cells =>
    cells.map((cell, column) => (isAmount[column] ? cell.replace('.', '').replace(/^0+(?=\d)/, '') : cell))
  )
  return [header, ...converted].map(cells => `${cells.map(quoteCell).join(',')}\n`).join('')
}

const quoteCell = (cell: string) => `"${cell.replaceAll('"', '""')}"`
