import { callWithTimeout, isTimeoutError } from './call-with-timeout.ts'
import { createCircuitBreaker } from './circuit-breaker.ts'

/** Outcomes of a call. `skipped`: the provider failed before, so it was not called. */
export const PROVIDER_CALL_OUTCOMES = ['valid', 'invalid', 'failed', 'timed_out', 'skipped'] as const

type Deps = {
  timeoutMs: number
  count: (outcome: (typeof PROVIDER_CALL_OUTCOMES)[number]) => void
  /** Gets why there is no valid answer: an error, or the fault of an answer. */
  warn: (reason: { readonly err: unknown } | { readonly fault: string }) => void
}

/**
 * Calls an external provider whose answer can be missing, through a circuit breaker. `findFault` returns what is wrong with an
 * answer. Returns `undefined` when the provider fails, takes longer, or answers with a fault. Never rejects.
 */
export function createProviderCaller({ timeoutMs, count, warn }: Deps) {
  const breaker = createCircuitBreaker()
  return async <T>(
    call: (signal: AbortSignal) => Promise<T>,
    findFault: (answer: T) => string | undefined
  ): Promise<T | undefined> => {
    if (!breaker.tryAdmit()) {
      count('skipped')
      return undefined
    }
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
    }
    breaker.recordFailure()
    return undefined
  }
}
