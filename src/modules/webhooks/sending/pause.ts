const MINUTE = 60
const HOUR = 3_600
/** As Standard Webhooks advises: three days in all, so that a weekend is not enough to lose something. */
const PAUSES = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]
/** Spread, so that what failed together does not come again together. */
const SPREAD = 0.2
const RETRY_AFTER_SECONDS_MAX = 24 * HOUR

/**
 * How long to wait after so many tries in vain; `undefined`: it is not tried again. What the receiver asked for is the least.
 * `random` is from 0 to 1.
 */
export function pauseSeconds(tries: number, random: number, retryAfterSeconds = 0): number | undefined {
  const seconds = PAUSES[tries - 1]
  if (seconds === undefined) return undefined
  return Math.max(seconds * (1 + SPREAD * random), Math.min(retryAfterSeconds, RETRY_AFTER_SECONDS_MAX))
}

/** Of a Retry-After (RFC 9110, section 10.2.3): seconds, or a date. `undefined` for what is neither. */
export function retryAfterSecondsOf(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1_000)
}
