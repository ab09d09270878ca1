import { test } from 'vitest'

/**
 * Whether expensive cases run whose promise a cheaper case of the same file keeps. `npm run test:long` sets EVERY_CASE for all files
 * that import this one.
 */
export const runsEveryCase = process.env.EVERY_CASE === '1'

/** An expensive case, which `npm test` skips. */
export const expensiveTest = test.runIf(runsEveryCase)
