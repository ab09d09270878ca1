import { readFile } from 'node:fs/promises'

const FOLDER = new URL('../docs/', import.meta.url)
const INDEX = 'README.md'
const NAME = /^[a-z][a-z-]*\.md$/
/** Where the shop serves its guides, so that they fit its version. */
export const GUIDES_PATH = '/guides/'

/** The guides that came with the program, in the order of their index; none where they were left out. */
export async function listGuides(): Promise<{ title: string; href: string }[]> {
  const index = await readFile(new URL(INDEX, FOLDER), 'utf8').catch(() => '')
  const links = [...index.matchAll(/^\* \[(.+?)\]\(([a-z-]+\.md)\)/gm)]
  return links.map(([, title = '', name = '']) => ({ title, href: GUIDES_PATH + name }))
}

/** A guide as Markdown, by the name of its file. */
export const readGuide = async (name: string): Promise<string | undefined> =>
  NAME.test(name) ? readFile(new URL(name, FOLDER), 'utf8').catch(() => undefined) : undefined
