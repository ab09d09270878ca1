import { createWebFileFinder } from '../gateway/pages/web-files.ts'

/** The files of the shop front. */
export const readShopFront = createWebFileFinder(new URL('../../demo/shop/', import.meta.url))
