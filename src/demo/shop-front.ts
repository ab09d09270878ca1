import { readFile } from 'node:fs/promises'

const FOLDER = new URL('../../demo/shop/', import.meta.url)
const NAME = /^[a-z]+\.(html|css|js)$/
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8'
}

/** A file of the shop front; read anew each time, so that whoever changes it sees it at once. */
export async function readShopFront(name: string): Promise<{ type: string; content: string } | undefined> {
  const type = TYPES[NAME.exec(name)?.[1] ?? '']
  if (type === undefined) return undefined
  const content = await readFile(new URL(name, FOLDER), 'utf8').catch(() => undefined)
  return content === undefined ? undefined : { type, content }
}
