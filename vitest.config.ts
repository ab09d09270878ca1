import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    globalSetup: './test/support/global-setup.ts',
    pool: 'forks',
    maxWorkers: 2,
    // On a busy machine a second, the default, is soon over.
    expect: { poll: { timeout: 10_000 } },
    testTimeout: 30_000,
    hookTimeout: 60_000
  }
})
