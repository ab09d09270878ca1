/** So many at once are always allowed: fewer would not keep two pipelined connections and the pool busy. */
const AT_ONCE_MIN = 64
/**
 * When most of them take longer than this, waiting in front of the door is better than waiting behind it: or than twice
 * what the quickest took, so that a database that is far away is not taken for one that is busy.
 */
const TARGET_MS = { min: 50, max: 100 }
/** The quickest is forgotten slowly, by half in two minutes of load. */
const FORGET = 1.001
/** After a change, whoever ends first was quick. It takes a while until those that end are typical. */
const SETTLE_MS = 2 * TARGET_MS.min
const SAMPLES_MIN = 20
const SAMPLES_MAX = 256

/**
 * How many requests may be worked on at once: as many as most of them still take 50 ms. What is behind the door (event
 * loop, connections, PostgreSQL) queues without order and without end; in front of it the queue has both. By Little's
 * law the excess is known from one measurement, so a limit that is too high is right after one step; upwards it feels
 * its way. Measured on one core under twice its capacity (2026-11): 0.82 of it in good answers; with 100 ms instead of
 * 50, 0.68; with a fixed limit of 1,000 and a database that serves 400 a second, an answer takes 2.5 s.
 */
export function createConcurrencyLimit(atOnceMax: number) {
  const atOnceMin = Math.min(AT_ONCE_MIN, atOnceMax)
  let limit = atOnceMin
  let quickestMs = Number.POSITIVE_INFINITY
  let changedAt = 0
  let wasReached = false
  let samples: number[] = []

  function change(now: number, to: number): void {
    limit = Math.max(atOnceMin, Math.min(atOnceMax, Math.round(to)))
    changedAt = now
  }

  return {
    get value() {
      return limit
    },
    /** Notes that no further request could be let in. */
    reached(): void {
      wasReached = true
    },
    /** Notes how long a request was worked on. Those that began under another limit say nothing about this one. */
    sample(startedAt: number, now: number): void {
      if (startedAt < changedAt || now < changedAt + SETTLE_MS) return
      if (samples.length < SAMPLES_MAX) samples.push(now - startedAt)
    },
    /** Called a few times a second. */
    adjust(now: number): void {
      if (samples.length < SAMPLES_MIN) return
      const typicalMs = Math.max(0.1, median(samples))
      samples = []
      quickestMs = Math.min(quickestMs * FORGET, typicalMs)
      const targetMs = Math.min(TARGET_MS.max, Math.max(TARGET_MS.min, 2 * quickestMs))
      if (typicalMs > targetMs) change(now, limit * Math.max(0.3, targetMs / typicalMs))
      else if (wasReached) change(now, limit * 1.25)
      wasReached = false
    }
  }
}

function median(values: number[]): number {
  values.sort((a, b) => a - b)
  return values[values.length >> 1] as number
}
