/**
 * Calls an external service, and rejects with a `TimeoutError` when it takes longer. `signal` is aborted then. A call that
 * ignores its signal goes on, and its outcome is dropped.
 */
export async function callWithTimeout<T>(
  timeoutMs: number,
  call: (signal: AbortSignal) => Promise<T>
): Promise<T> {
  const controller = new AbortController()
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    const error = new DOMException(`no response within ${timeoutMs} ms`, 'TimeoutError')
    controller.abort(error)
    reject(error)
  }, timeoutMs)
  try {
    return await Promise.race([call(controller.signal), timeout])
  } finally {
    clearTimeout(timer)
  }
}

export const isTimeoutError = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'TimeoutError'
