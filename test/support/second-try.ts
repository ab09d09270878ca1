import type { Reporter, TestCase } from 'vitest/node'

/** Names the tests that passed at their second try only, and why the first one failed: they are to be mended. */
export default class SecondTry implements Reporter {
  readonly #flaky: TestCase[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky) this.#flaky.push(test)
  }

  onTestRunEnd(): void {
    for (const test of this.#flaky) {
      console.error(`\nPASSED AT THE SECOND TRY ONLY: ${test.module.relativeModuleId} > ${test.fullName}`)
      for (const error of test.result().errors ?? []) console.error(error.stack ?? error.message)
    }
  }
}
