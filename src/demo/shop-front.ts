import { createWebFileFinder } from '../gateway/pages/web-files.ts'

/** Finds a file of the example shop front. */
export const readShopFrontFile = createWebFileFinder(new URL('../../demo/shop/', import.meta.url))
