import type { ExternalServiceControls, ExternalServiceFailure } from '../../src/contracts/external-service.ts'

export type FailingService = ExternalServiceControls & {
  /** Does the work of a request, unless a test lets it fail. */
  request<T>(work: () => T, signal: AbortSignal): Promise<T>
}

/** An external service in memory, which a test lets fail. */
export function failingService(): FailingService {
  const failures: ExternalServiceFailure[] = []
  let hanging = Promise.withResolvers<void>()
  return {
    failNext: failure => {
      failures.push(failure)
      hanging = Promise.withResolvers()
    },
    untilHanging: () => hanging.promise,
    request: async (work, signal) => {
      const failure = failures.shift()
      if (failure === 'error') throw new Error('the service responded 503')
      if (failure === 'hang') {
        hanging.resolve()
        await aborted(signal)
      }
      const result = work()
      if (failure === 'lost') throw new Error('the connection was reset')
      return result
    }
  }
}

const aborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
