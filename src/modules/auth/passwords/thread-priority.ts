import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const TASKS = '/proc/self/task'
/** As libuv calls the threads of its pool, which compute hashes and read files. */
const POOL_THREAD = 'libuv-worker'
const NICER = 10
const NICEST = 19

/**
 * Lowers the priority of the pool's threads, so that requests go first while processors are short. For the first hash, which has
 * started these threads. Does nothing outside of Linux, where priorities are those of processes.
 */
export function lowerPoolPriority(): void {
  if (process.platform !== 'linux') return
  const priority = Math.min(NICEST, getPriority() + NICER)
  for (const thread of readdirSync(TASKS)) {
    try {
      const name = readFileSync(`${TASKS}/${thread}/comm`, 'utf8').trim()
      if (name === POOL_THREAD) setPriority(Number(thread), priority)
    } catch {
      // It has ended in the meantime, or may not be changed: hashes are as right with any priority.
    }
  }
}
