import type { Reporter, TestCase } from 'vitest/node'

/** Names the tests that passed at their second try only, and why the first one failed, so that they are mended. */
export function secondTryReporter(): Reporter {
  const flaky: TestCase[] = []
  return {
    onTestCaseResult: test => {
      if (test.diagnostic()?.flaky) flaky.push(test)
    },
    onTestRunEnd: () => {
      for (const test of flaky) {
        console.error(`\nPASSED AT THE SECOND TRY ONLY: ${test.module.relativeModuleId} > ${test.fullName}`)
        for (const error of test.result().errors ?? []) console.error(error.stack ?? error.message)
      }
    }
  }
}
