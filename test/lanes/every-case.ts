import { test } from 'vitest'

/**
 * Whether dear cases run whose promise a cheaper case of the same file keeps. `npm run test:long` sets EVERY_CASE for all files
 * that import this one.
 */
export const runsEveryCase = process.env.EVERY_CASE === '1'

/** A dear case, which `npm test` skips. */
export const dearTest = test.runIf(runsEveryCase)
