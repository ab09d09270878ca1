import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { currencies } from '../kernel/money.ts'

const require = createRequire(import.meta.url)
const FILE = new URL('../../demo/catalog.csv', import.meta.url)
const AMOUNTS = ['Variant Price', 'Variant Compare At Price', 'Cost per item']

/** Where the file has its pictures: below the address of a shop that was started without further ado. */
const ADDRESS = 'http://127.0.0.1:8080'
export const PICTURES_PATH = '/demo/'

/** The demo catalog as a CSV file with prices in this currency, and pictures at this address. */
export async function readDemo(currency: string, address: string): Promise<string> {
  const file = await readFile(FILE, 'utf8')
  return demoIn(currency, file.replaceAll(ADDRESS + PICTURES_PATH, address + PICTURES_PATH))
}

/**
 * The file's prices have two decimals. They are made up, so they are the same number in every currency that has
 * decimals; where there are none, each cent is one unit: 18.00 is 1800 yen.
 */
export function demoIn(currency: string, file: string): string {
  if (currencies[currency] !== 0) return file
  const { parse } = require('csv-parse/sync') as typeof import('csv-parse/sync')
  const [header = [], ...rows]: string[][] = parse(file)
  const isAmount = header.map(name => AMOUNTS.includes(name))
  const converted = rows.map(cells =>
    cells.map((cell, column) => (isAmount[column] ? cell.replace('.', '').replace(/^0+(?=\d)/, '') : cell))
  )
  return [header, ...converted].map(cells => `${cells.map(quoted).join(',')}\n`).join('')
}

const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`
