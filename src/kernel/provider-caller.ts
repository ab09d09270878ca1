import { callWithTimeout, isTimeoutError } from './call-with-timeout.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'
import { defineError } from './errors.ts'
import type { OpenRequestBudget } from './shared-request-budgets.ts'
import { createSingleFlight } from './single-flight.ts'

/**
 * Outcomes of a call. Two were not sent: `skipped` because the provider failed before, `busy` because too many calls of this
 * process wait for it.
 */
export const PROVIDER_CALL_OUTCOMES = ['valid', 'invalid', 'failed', 'timed_out', 'skipped', 'busy'] as const
/** Simultaneous calls of one process to one provider, so that a slow provider collects no queue of callers. */
const PROVIDER_CALLS_MAX = 100

type Deps = {
  timeoutMs: number
  count: (outcome: (typeof PROVIDER_CALL_OUTCOMES)[number]) => void
  /** Gets why there is no valid answer: an error, or the fault of an answer. */
  warn: (reason: { readonly err: unknown } | { readonly fault: string }) => void
}

/**
 * Calls an external provider whose answer can be missing, through a circuit breaker. Simultaneous calls with equal keys are
 * one call. `findFault` returns what is wrong with an answer. Returns `undefined` when the provider fails, takes longer, or
 * answers with a fault. Never rejects.
 */
export function createProviderCaller<T>({ timeoutMs, count, warn }: Deps) {
  const breaker = createCircuitBreaker()
  const callOnce = createSingleFlight<T | undefined>()
  let calls = 0

  async function callProvider(
    call: (signal: AbortSignal) => Promise<T>,
    findFault: (answer: T) => string | undefined
  ): Promise<T | undefined> {
    if (calls >= PROVIDER_CALLS_MAX || !breaker.tryAdmit()) {
      count(calls >= PROVIDER_CALLS_MAX ? 'busy' : 'skipped')
      return undefined
    }
    calls += 1
    try {
      const answer = await callWithTimeout(timeoutMs, call)
      const fault = findFault(answer)
      if (fault === undefined) {
        breaker.recordSuccess()
        count('valid')
        return answer
      }
      count('invalid')
      warn({ fault })
    } catch (err) {
      count(isTimeoutError(err) ? 'timed_out' : 'failed')
      warn({ err })
    } finally {
      calls -= 1
    }
    breaker.recordFailure()
    return undefined
  }

  return (key: string, ...request: Parameters<typeof callProvider>): Promise<T | undefined> =>
    callOnce(key, () => callProvider(...request))
}

const providerRequestsLimitedError = defineError(
  'rate_limited',
  'PROVIDER_REQUESTS_LIMITED',
  'The shop asked carriers or a tax engine too often for this client. Wait for the seconds in Retry-After.'
)

/**
 * Limits how many requests to providers one client causes per minute. Null is a client without a limit.
 * @throws `PROVIDER_REQUESTS_LIMITED`
 */
export function createProviderRequestLimit(
  openBudget: OpenRequestBudget,
  /** Which providers. */
  name: string,
  settings: { readonly enabled: boolean; readonly provider_requests_per_minute: number }
) {
  const perMinute = settings.enabled ? settings.provider_requests_per_minute : Number.POSITIVE_INFINITY
  const { take } = openBudget(name, perMinute)
  return async (clientNetwork: string | null): Promise<void> => {
    const retryAfterSeconds = clientNetwork === null ? 0 : await take(clientNetwork)
    if (retryAfterSeconds > 0) throw providerRequestsLimitedError({ retryAfterSeconds })
  }
}
