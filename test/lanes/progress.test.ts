import { expect, onTestFinished, test, vi } from 'vitest'
import type { TestCase, TestModule, TestSpecification } from 'vitest/node'
import { progressReporter } from './progress.ts'

test('a test run without a terminal reports its progress every ten seconds', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const lines: string[] = []
  const reporter = progressReporter(line => lines.push(line.replace(/^\[\d+ s\] /, '')))
  const file = (relativeModuleId: string) => ({ relativeModuleId }) as TestModule
  const ended = (state: string) => ({ result: () => ({ state }) }) as TestCase
  reporter.onTestRunStart?.([{}, {}] as TestSpecification[])
  reporter.onTestModuleStart?.(file('a.test.ts'))
  reporter.onTestCaseResult?.(ended('passed'))
  vi.advanceTimersByTime(10_000)
  reporter.onTestModuleEnd?.(file('a.test.ts'))
  reporter.onTestCaseResult?.(ended('failed'))
  vi.advanceTimersByTime(10_000)
  expect(lines).toEqual([
    '0 of 2 files, 1 tests passed, 0 failed; running a.test.ts\n',
    '1 of 2 files, 1 tests passed, 1 failed\n'
  ])
})
