// Loaded into the shop by a test, in each of its threads: what a bug in a handler, or in the other thread, would do.
import { isMainThread } from 'node:worker_threads'

const BLOCK_MS = Number(process.env.BLOCK_MS ?? 0)
const END_THREAD_AFTER_MS = Number(process.env.END_THREAD_AFTER_MS ?? 0)

if (isMainThread) {
  process.on('SIGUSR2', () => {
    const end = performance.now() + BLOCK_MS
    while (performance.now() < end);
  })
} else if (END_THREAD_AFTER_MS > 0) {
  setTimeout(() => {
    throw new Error('the thread has a bug')
  }, END_THREAD_AFTER_MS)
}
