import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS_MIN = 5
const POLL_MS_MAX = 100
/** A wait is longer than necessary by at most this share of its duration, so that checks do not use the CPU that it waits for. */
const LATENESS = 0.05

/** Waits until `holds`, and returns the milliseconds that took. An error counts as "not yet", except a failed assertion. */
export async function until(
  what: string,
  holds: () => unknown,
  millisecondsMax = 120_000,
  pollMsMin = POLL_MS_MIN
): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const isSo = await Promise.try(holds).catch(error => {
      if (error.name === 'AssertionError') throw error
      return false
    })
    const elapsed = performance.now() - startedAt
    if (isSo) return elapsed
    if (elapsed > millisecondsMax) throw new Error(`after ${millisecondsMax} ms still not: ${what}`)
    await delay(Math.min(Math.max(pollMsMin, elapsed * LATENESS), POLL_MS_MAX))
  }
}
