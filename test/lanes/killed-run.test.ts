import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { until } from '../faults/until.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PATIENCE_MS = 120_000

type Process = { pid: number; parent: number; command: string }

function processes(): Process[] {
  const { stdout } = spawnSync('ps', ['-axww', '-o', 'pid=,ppid=,command='], {
    encoding: 'utf8',
    maxBuffer: 64 * 1_048_576
  })
  return stdout.split('\n').flatMap(line => {
    const [, pid, parent, command = ''] = /^\s*(\d+)\s+(\d+)\s+(.*)$/.exec(line) ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), parent: Number(parent), command }]
  })
}

function descendantsOf(pid: number): Process[] {
  const all = processes()
  const found = new Set([pid])
  for (const each of found) for (const one of all) if (one.parent === each) found.add(one.pid)
  found.delete(pid)
  return all.filter(each => found.has(each.pid))
}

// SIGHUP is handled as SIGTERM is, and each signal costs a test run.
test.each(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
  'a test run that ends by %s leaves no process and no folder behind',
  async signal => {
    const { PATH = '', HOME = '' } = process.env
    const run = spawn('vitest', ['run', 'src/modules/cart/merge/routes.test.ts'], {
      cwd: ROOT,
      env: { PATH, HOME },
      stdio: 'ignore'
    })
    const pid = run.pid as number
    onTestFinished(() => void run.kill('SIGKILL'))
    const exited = once(run, 'exit')
    let started: Process[] = []
    const folder = () =>
      started.flatMap(({ command }) => / -D (\S+)\/postgres /.exec(command)?.[1] ?? [])[0] ?? ''
    const isRunning = () => {
      started = descendantsOf(pid)
      return folder() !== '' && started.some(({ command }) => command.includes('workers/forks.js'))
    }
    await until('the run has a server and a process of tests', isRunning, PATIENCE_MS)
    expect(existsSync(folder())).toBe(true)

    process.kill(pid, signal)
    await exited
    const pids = new Set(started.map(each => each.pid))
    await until(
      'all processes of the run have exited',
      () => !processes().some(each => pids.has(each.pid)),
      PATIENCE_MS
    )
    await until('the folder is deleted', () => !existsSync(folder()), PATIENCE_MS)
  }
)
