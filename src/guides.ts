import { readFile } from 'node:fs/promises'

const FOLDER = new URL('../docs/', import.meta.url)
const INDEX = 'README.md'
const NAME = /^(?:reference\/)?[a-z][a-z-]*\.md$/
/** Where the shop serves its guides, so that they fit its version. */
const GUIDES_PATH = '/guides/'

/** The guides that came with the program, in the order of their index; none where they were left out. */
export async function listGuides(): Promise<{ title: string; href: string }[]> {
  const index = await readFile(new URL(INDEX, FOLDER), 'utf8').catch(() => '')
  const links = [...index.matchAll(/^\* \[(.+?)\]\(([a-z/-]+\.md)\)/gm)]
  return links.map(([, title = '', name = '']) => ({ title, href: GUIDES_PATH + name }))
}

/** Each folder of guides as Markdown, by the names of its files. */
export const guideFiles = ['', 'reference/'].map(folder => ({
  path: GUIDES_PATH + folder,
  type: 'text/plain; charset=utf-8',
  find: async (name: string): Promise<string | undefined> =>
    NAME.test(folder + name)
      ? readFile(new URL(folder + name, FOLDER), 'utf8').catch(() => undefined)
      : undefined
}))
