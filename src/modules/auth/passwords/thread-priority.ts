import { readdirSync, readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

const TASKS = '/proc/self/task'
/** Name of libuv's pool threads, which compute hashes and read files. */
const POOL_THREAD = 'libuv-worker'
const NICER = 10
const NICEST = 19

/**
 * Lowers the priority of the pool's threads, so that requests get the CPU first. Called with the first hash, which starts these
 * threads. Does nothing outside Linux, where only processes have priorities.
 */
export function lowerThreadPoolPriority(): void {
  if (process.platform !== 'linux') return
  const priority = Math.min(NICEST, getPriority() + NICER)
  for (const thread of readdirSync(TASKS)) {
    try {
      const name = readFileSync(`${TASKS}/${thread}/comm`, 'utf8').trim()
      if (name === POOL_THREAD) setPriority(Number(thread), priority)
    } catch {
      // The thread has ended, or its priority cannot be changed. Hashing works anyway.
    }
  }
}
