import { readFile, writeFile } from 'node:fs/promises'
import { expect } from 'vitest'

const MARK = '<!-- Everything below is written by npm run docs. -->'

/**
 * Holds what stands behind the mark of a page of `docs` to what the code says; `npm run docs` rewrites it. `write` makes
 * it, and is handed what stands there now.
 */
export async function expectPage(name: string, write: (present: string) => string): Promise<void> {
  const page = new URL(`../../docs/${name}`, import.meta.url)
  const [head = '', present = ''] = (await readFile(page, 'utf8')).split(`${MARK}\n`)
  const written = `\n${write(present)}\n`
  if (process.env.UPDATE_DOCS === '1') await writeFile(page, `${head}${MARK}\n${written}`)
  else expect(present, `docs/${name} is outdated: run npm run docs`).toBe(written)
}

/** A table in Markdown. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lineOf = (cells: readonly string[]) =>
    `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [lineOf(head), `|${head.map(() => '---|').join('')}`, ...rows.map(lineOf)].join('\n')
}
