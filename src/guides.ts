import { readFile } from 'node:fs/promises'

const FOLDER = new URL('../docs/', import.meta.url)
const INDEX = 'README.md'
const NAME = /^(?:reference\/)?[a-z][a-z-]*\.md$/
/** The shop serves its guides itself, so that they match its version. */
const GUIDES_PATH = '/guides/'

/** Returns the bundled guides in the order of their index. Empty when the installation has none. */
export async function listGuides(): Promise<{ title: string; href: string }[]> {
  const index = await readFile(new URL(INDEX, FOLDER), 'utf8').catch(() => '')
  const links = [...index.matchAll(/^\* \[(.+?)\]\(([a-z/-]+\.md)\)/gm)]
  return links.map(([, title = '', name = '']) => ({ title, href: GUIDES_PATH + name }))
}

/** The folders of guides, served as Markdown files. */
export const guideFiles = ['', 'reference/'].map(folder => ({
  path: GUIDES_PATH + folder,
  type: 'text/plain; charset=utf-8',
  find: async (name: string): Promise<string | undefined> =>
    NAME.test(folder + name)
      ? readFile(new URL(folder + name, FOLDER), 'utf8').catch(() => undefined)
      : undefined
}))
