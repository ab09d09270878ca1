// Loaded into the shop by a test, in each of its threads: what a bug in a handler, or in the other thread, would do.
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads'

const BLOCK_MS = Number(process.env.BLOCK_MS ?? 0)
const END_THREAD_AFTER_MS = Number(process.env.END_THREAD_AFTER_MS ?? 0)

if (isMainThread) {
  setEnvironmentData('ended', new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)))
  process.on('SIGUSR2', () => {
    // Blocks the thread as an endless loop does, without its CPU time.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)), 0, 0, BLOCK_MS)
  })
} else if (END_THREAD_AFTER_MS > 0 && Atomics.add(getEnvironmentData('ended'), 0, 1) === 0) {
  // The first one only: on a busy machine the next one would not get as far as listening.
  setTimeout(() => {
    throw new Error('the thread has a bug')
  }, END_THREAD_AFTER_MS)
}
