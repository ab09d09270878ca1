import { execFileSync } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SCRIPT = '. tools/program.sh && wait && . tools/program.sh && echo "$PROGRAM"'

/**
 * Processes of tests start what `npm start` starts, the bundle, which is made first when a source has changed: a start takes
 * 0.4 CPU-seconds instead of 0.75 (2026-11). `TEST_PROGRAM=src/main.ts` starts the sources instead.
 */
export function setup({ vitest }: TestProject): void {
  // While somebody watches, sources change.
  if (vitest.config.watch || process.env.TEST_PROGRAM !== undefined) return
  const program = execFileSync('sh', ['-ec', SCRIPT], { cwd: ROOT, encoding: 'utf8' }).trim()
  // One made in the meantime is another folder.
  process.env.TEST_PROGRAM = realpathSync(join(ROOT, program))
}
