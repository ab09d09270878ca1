import { webFilesIn } from '../gateway/pages/web-files.ts'

/** The files of the shop front. */
export const readShopFront = webFilesIn(new URL('../../demo/shop/', import.meta.url))
