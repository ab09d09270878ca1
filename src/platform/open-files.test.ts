import { expect, test } from 'vitest'
import { describeOpenFilesShortage, openFilesLimit } from './open-files.ts'

const LIMITS = `Limit                     Soft Limit           Hard Limit           Units
Max processes             127236               127236               processes
Max open files            1024                 524288               files
Max locked memory         unlimited            unlimited            bytes`

test('the limit of open files is parsed from its Linux format', () => {
  expect(openFilesLimit(LIMITS)).toBe(1_024)
  expect(openFilesLimit(LIMITS.replace('1024  ', 'unlimited'))).toBeUndefined()
  expect(openFilesLimit('')).toBeUndefined()
})

test.runIf(process.platform === 'linux')('the limit of open files is known for the running process', () => {
  expect(openFilesLimit()).toBeGreaterThan(100)
})

test('a limit of open files that is too low for the configured connections is reported with both numbers', () => {
  const wanted = { clients: 10_000, database: 25 }
  expect(describeOpenFilesShortage(wanted, 10_281)).toBeUndefined()
  expect(describeOpenFilesShortage(wanted, undefined)).toBeUndefined()
  expect(describeOpenFilesShortage(wanted, 10_280)).toMatch(
    /may open 10280 files, .*connections_max 10000 needs 10281/
  )
})
