import { createWebFileFinder } from '../gateway/pages/web-files.ts'

/** The files of the shop front. */
export const readShopFrontFile = createWebFileFinder(new URL('../../demo/shop/', import.meta.url))
