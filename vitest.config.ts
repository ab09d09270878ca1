import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longest-first.ts'
import { secondTryReporter } from './test/support/second-try.ts'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: './test/support/global-setup.ts',
    reporters: ['default', secondTryReporter()],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    maxWorkers: 2,
    // On a busy machine a second, the default, is soon over.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000,
    // Where machines are shared a test may fail for want of time. What a property found is found, whatever the next run finds.
    retry: process.env.CI === undefined ? 0 : { count: 1, condition: /^(?!Property failed)/ }
  }
})
