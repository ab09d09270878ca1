import assert from 'node:assert/strict'

/**
 * What an external service does with the next request. `error`: it does nothing, and answers with an error. `lost`: it does
 * the work, and its answer is lost. `hang`: it does not answer.
 * @example
 * const isWorkDone = (failure: ExternalServiceFailure) => failure === 'lost'
 */
export type ExternalServiceFailure = 'error' | 'lost' | 'hang'

/**
 * How a test controls the service behind a provider.
 * @example
 * const failOnce = (service: ExternalServiceControls) => service.failNext('error')
 */
export type ExternalServiceControls = {
  failNext(failure: ExternalServiceFailure): void | Promise<void>
  /** Resolves when the service has received the request that it does not answer. */
  untilHanging(): void | Promise<void>
}

const CALL_MS_MAX = 60_000

/** Calls a provider with a copy of a request, and asserts that it does not change the copy. */
export async function callWithCopy<Q, A>(
  request: Q,
  call: (request: Q, signal: AbortSignal) => Promise<A>
): Promise<A> {
  const copy = structuredClone(request)
  const answer = await call(copy, AbortSignal.timeout(CALL_MS_MAX))
  assert.deepEqual(copy, request, 'the provider has changed the request')
  return answer
}

/** No provider needs longer to end a call whose signal was aborted. */
const END_MS_MAX = 2_000

/** Asserts that a call rejects when its signal is aborted while the service hangs. */
export async function assertEndsWhenAborted(
  service: ExternalServiceControls,
  call: (signal: AbortSignal) => Promise<unknown>
): Promise<void> {
  const controller = new AbortController()
  await service.failNext('hang')
  const outcome = call(controller.signal).then(
    () => 'the call was fulfilled',
    () => 'the call was rejected'
  )
  await Promise.race([service.untilHanging(), outcome])
  controller.abort(new Error('the call takes too long'))
  const { promise: late, resolve } = Promise.withResolvers<string>()
  const timer = setTimeout(
    resolve,
    END_MS_MAX,
    `the call goes on ${END_MS_MAX} ms after its signal was aborted`
  )
  const found = await Promise.race([outcome, late]).finally(() => clearTimeout(timer))
  assert.equal(found, 'the call was rejected')
}

/** Asserts that a call rejects when the service fails, and that the next one succeeds. */
export async function assertRejectsFailures(
  service: ExternalServiceControls,
  call: (signal: AbortSignal) => Promise<unknown>
): Promise<void> {
  for (const failure of ['error', 'lost'] as const) {
    await service.failNext(failure)
    const failing = call(AbortSignal.timeout(CALL_MS_MAX))
    await assert.rejects(failing, `a call with the failure ${failure} was fulfilled`)
    await call(AbortSignal.timeout(CALL_MS_MAX))
  }
}
