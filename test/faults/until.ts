import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 5

/** Waits until `holds`, and returns the milliseconds that took. An error counts as "not yet". */
export async function until(what: string, holds: () => unknown, millisecondsMax = 120_000): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const isSo = await Promise.try(holds).catch(() => false)
    const elapsed = performance.now() - startedAt
    if (isSo) return elapsed
    if (elapsed > millisecondsMax) throw new Error(`after ${millisecondsMax} ms still not: ${what}`)
    await delay(POLL_MS)
  }
}
