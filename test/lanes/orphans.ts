import { spawnSync } from 'node:child_process'

// Runs in each process of tests. It ends with the main process of the run, however that ends, and so do those that it started.

const known = globalThis as { endsWithParent?: true }
if (known.endsWithParent === undefined) {
  known.endsWithParent = true
  process.once('disconnect', () => {
    spawnSync('pkill', ['-P', String(process.pid)])
    process.kill(process.pid, 'SIGKILL')
  })
}
