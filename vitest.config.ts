import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { readImports } from './test/lanes/imports.ts'
import { lanesOf } from './test/lanes/lanes.ts'
import { LongestFirst } from './test/lanes/longest-first.ts'
import { progressReporter } from './test/lanes/progress.ts'

const lanes = lanesOf(readImports(fileURLToPath(new URL('.', import.meta.url))))
const database = { globalSetup: './test/support/global-setup.ts' }
const bundle = { globalSetup: [database.globalSetup, './test/support/bundled-program.ts'] }
/** Room for young objects: half of all garbage collection (2026-11). */
const execArgv = ['--min-semi-space-size=32', '--max-semi-space-size=64']
const setupFiles = [
  './test/lanes/orphans.ts',
  './test/lanes/deferred-routes.ts',
  './test/support/cartwright-sources.ts'
]
const shared = {
  isolate: false,
  execArgv,
  setupFiles: [...setupFiles, './test/lanes/shared-process.ts']
}

// The process that started this one is gone, however it ended.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.channel?.unref()

export default defineConfig({
  test: {
    reporters: ['default', ...(process.stdout.isTTY ? [] : [progressReporter()])],
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    // One more than processors: tests of processes mostly wait.
    maxWorkers: availableParallelism() + 1,
    // Node reads TypeScript. Vite's transforms and evaluations were more than half of all CPU time of a run (2026-11).
    experimental: { viteModuleRunner: false },
    // Generous, because a busy machine is no reason to fail, and a test never waits for time to pass.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    projects: [
      { extends: true, test: { name: 'unit', include: lanes.unit, ...shared } },
      { extends: true, test: { name: 'shop', include: lanes.shop, ...shared, ...database } },
      { extends: true, test: { name: 'process', include: lanes.process, ...shared, ...bundle } },
      { extends: true, test: { name: 'long', include: lanes.long, ...shared, ...bundle } },
      {
        extends: true,
        test: {
          name: 'alone',
          include: lanes.alone,
          isolate: true,
          setupFiles,
          ...database
        }
      }
    ]
  }
})
