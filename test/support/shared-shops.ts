import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, inject, onTestFinished, type TestContext } from 'vitest'

type Cleanup = (context?: TestContext) => unknown
/** Registers how something is closed after its last test. */
export type OnFinished = (cleanup: Cleanup) => void
type Scope = { opened: { key: readonly unknown[]; value: Promise<unknown> }[]; cleanups: Cleanup[] }

/** Of the test file that runs. */
let scope: Scope | undefined
let isOwnNeeded = false

/**
 * Lets the tests of a file, or of a `describe`, share their shops: tests with the same options use one, so each asserts only on
 * what it created. Called once, before them. The tests then run in random order, so that one that depends on another fails.
 */
export function shareShops(): void {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest passes fixtures, and accepts no other parameter in this place
  beforeAll(({}, suite) => {
    if (scope !== undefined) throw new Error('this file shares its shops already: call shareShops() once')
    scope = { opened: [], cleanups: [] }
    Object.assign(suite, { shuffle: true })
  })
  // biome-ignore lint/correctness/noEmptyPattern: as above
  afterAll(async ({}, suite) => {
    const { cleanups = [] } = scope ?? {}
    scope = undefined
    if (suite.tasks.some(({ result }) => result?.state === 'fail'))
      console.log(`To repeat this order of the tests: --sequence.seed=${inject('seed')}`)
    for (const cleanup of cleanups.toReversed()) await cleanup()
  })
}

/**
 * Opens shops that no other test uses, in a file that shares its shops, because this test reads lists of everything, the log or
 * metrics, or changes what others use.
 */
export function needsOwnShop(): void {
  if (scope === undefined) throw new Error('this file does not share its shops: remove needsOwnShop()')
  isOwnNeeded = true
  onTestFinished(() => {
    isOwnNeeded = false
  })
}

/**
 * Opens something for one test, or for all tests of a file that share it under this key. `open` registers how it is closed.
 * Without a key it is not shared.
 */
export function openShared<T>(
  key: readonly unknown[] | undefined,
  open: (onFinished: OnFinished) => Promise<T>
): Promise<T> {
  if (scope === undefined || isOwnNeeded || key === undefined)
    return open(cleanup => onTestFinished(async context => void (await cleanup(context))))
  const { opened, cleanups } = scope
  const found = opened.find(each => isDeepStrictEqual(each.key, key))
  if (found !== undefined) return found.value as Promise<T>
  const value = open(cleanup => void cleanups.push(cleanup))
  opened.push({ key, value })
  return value
}
