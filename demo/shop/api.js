import { chosenMarket } from './storage.js'

const ATTEMPTS_MAX = 4
const TIMEOUT_MS = 20_000
const WAIT_SECONDS_MAX = 10

/** An error response with its `status` and the members of its problem (RFC 9457). Status 0: there was no response. */
export class ApiError extends Error {
  constructor(status, body) {
    super(body.code ?? body.error ?? 'NO_RESPONSE')
    Object.assign(this, body, { status })
  }
  /** Whether the outcome is unknown: the shop may have executed the request, so the same one is sent again. */
  get isOutcomeUnknown() {
    return this.status === 0 || this.status >= 500 || this.code === 'IDEMPOTENCY_KEY_IN_PROGRESS'
  }
}

/** Returns a random UUID. `crypto.randomUUID` is missing on pages that were loaded by plain HTTP from another machine. */
export function newKey() {
  const hex = [...crypto.getRandomValues(new Uint8Array(16))].map(byte => byte.toString(16).padStart(2, '0'))
  return hex.join('').replace(/^(.{8})(.{4}).(.{3})(.{4})(.{12})$/, '$1-$2-4$3-$4-$5')
}

/**
 * Sends a request to the API and returns the JSON of the response. Writes carry an idempotency key, so that the shop executes
 * them once although they are sent again after a lost response. Throws an ApiError.
 */
export async function call(method, path, { body, headers = {}, key = newKey() } = {}) {
  const market = chosenMarket.get()
  const request = {
    method,
    headers: {
      ...headers,
      ...(market !== undefined && { 'x-market': market }),
      ...(method !== 'GET' && { 'idempotency-key': key }),
      ...(body !== undefined && { 'content-type': 'application/json' })
    },
    ...(body !== undefined && { body: JSON.stringify(body) })
  }
  for (let tries = 1; ; tries += 1) {
    const { error, content, retryAfter } = await attempt(path, request)
    if (error === undefined) return content
    const isRetryable = error.status === 0 || retryAfter !== null
    const seconds = Number(retryAfter) || tries
    if (!isRetryable || tries === ATTEMPTS_MAX || seconds > WAIT_SECONDS_MAX) throw error
    await new Promise(resolve => setTimeout(resolve, seconds * 1_000))
  }
}

async function attempt(path, request) {
  try {
    const response = await fetch(`/api${path}`, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) })
    const content = response.status === 204 ? null : await response.json()
    if (response.ok) return { content }
    return { error: new ApiError(response.status, content), retryAfter: response.headers.get('retry-after') }
  } catch {
    return { error: new ApiError(0, {}), retryAfter: null }
  }
}
