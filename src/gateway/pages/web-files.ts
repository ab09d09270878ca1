import { readFile } from 'node:fs/promises'

/** Finds a file of a page by its name; undefined when there is none. */
export type WebFiles = (name: string) => Promise<{ type: string; content: string } | undefined>

const NAME = /^[a-z]+\.(html|css|js)$/
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8'
}

/** The page, styles and scripts in a folder. They are read for each request, so that an edit shows after a reload. */
export const webFilesIn =
  (folder: URL): WebFiles =>
  async name => {
    const type = TYPES[NAME.exec(name)?.[1] ?? '']
    if (type === undefined) return undefined
    const content = await readFile(new URL(name, folder), 'utf8').catch(() => undefined)
    return content === undefined ? undefined : { type, content }
  }
