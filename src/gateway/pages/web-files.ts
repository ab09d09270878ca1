import { readFile } from 'node:fs/promises'

/** Returns a file of a page by name; undefined if it does not exist. */
export type FindWebFile = (name: string) => Promise<{ type: string; content: string } | undefined>

const NAME = /^[a-z]+\.(html|css|js)$/
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8'
}

/** Finds pages, styles and scripts in a folder. Reads them on each request, so that edits show after a reload. */
export const createWebFileFinder =
  (folder: URL): FindWebFile =>
  async name => {
    const type = TYPES[NAME.exec(name)?.[1] ?? '']
    if (type === undefined) return undefined
    const content = await readFile(new URL(name, folder), 'utf8').catch(() => undefined)
    return content === undefined ? undefined : { type, content }
  }
