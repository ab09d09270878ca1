import { spawnSync } from 'node:child_process'

// Runs in each test process. Kills the process and its children when the main process of the run ends for any reason.

const known = globalThis as { endsWithParent?: true }
if (known.endsWithParent === undefined) {
  known.endsWithParent = true
  process.once('disconnect', () => {
    spawnSync('pkill', ['-P', String(process.pid)])
    process.kill(process.pid, 'SIGKILL')
  })
}
