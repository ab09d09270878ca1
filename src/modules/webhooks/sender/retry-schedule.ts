const MINUTE = 60
const HOUR = 3_600
/** The schedule that Standard Webhooks recommends. It spans three days, so that an outage over a weekend loses no event. */
const DELAYS_SECONDS = [
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR
]
/** Share of the delay that is added at random, so that deliveries that failed together retry at different times. */
const SPREAD = 0.2
const RETRY_AFTER_SECONDS_MAX = 24 * HOUR

/**
 * Seconds until the next attempt after `tries` failed ones, and at least `retryAfterSeconds`. Returns undefined when there
 * is no further attempt. `random` is from 0 to 1.
 */
export function webhookRetryDelaySeconds(
  tries: number,
  random: number,
  retryAfterSeconds = 0
): number | undefined {
  const seconds = DELAYS_SECONDS[tries - 1]
  if (seconds === undefined) return undefined
  return Math.max(seconds * (1 + SPREAD * random), Math.min(retryAfterSeconds, RETRY_AFTER_SECONDS_MAX))
}

/** Returns the seconds of a Retry-After header: seconds or a date (RFC 9110, section 10.2.3). Undefined for other values. */
export function parseRetryAfterSeconds(header: string | undefined, now: number): number | undefined {
  if (header === undefined) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = /^[A-Z][a-z]{2}, /.test(header) ? Date.parse(header) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, (at - now) / 1_000)
}
