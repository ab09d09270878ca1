import type { Reporter, TestModule, TestSpecification } from 'vitest/node'

const EVERY_MS = 10_000

/** Prints the progress of a run without a terminal every 10 seconds. */
export function progressReporter(
  write: (line: string) => void = line => process.stdout.write(line)
): Reporter {
  const running = new Set<string>()
  let [total, done, passed, failed] = [0, 0, 0, 0]
  let timer: NodeJS.Timeout | undefined
  const startedAt = performance.now()
  const say = () => {
    const seconds = Math.round((performance.now() - startedAt) / 1_000)
    const now = running.size === 0 ? '' : `; running ${[...running].join(', ')}`
    write(`[${seconds} s] ${done} of ${total} files, ${passed} tests passed, ${failed} failed${now}\n`)
  }
  return {
    onTestRunStart: (specifications: readonly TestSpecification[]) => {
      total = specifications.length
      timer = setInterval(say, EVERY_MS).unref()
    },
    onTestModuleStart: ({ relativeModuleId }: TestModule) => {
      running.add(relativeModuleId)
    },
    onTestCaseResult: test => {
      const { state } = test.result()
      if (state === 'passed') passed += 1
      if (state === 'failed') failed += 1
    },
    onTestModuleEnd: ({ relativeModuleId }: TestModule) => {
      running.delete(relativeModuleId)
      done += 1
    },
    onTestRunEnd: () => {
      clearInterval(timer)
      if (total > 0) say()
    }
  }
}
