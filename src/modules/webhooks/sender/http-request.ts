import type { HttpClient } from '../../../platform/http/client.ts'
import type { WebhookSecretEncryption } from '../signatures/secret-encryption.ts'
import { signWebhook } from '../signatures/sign.ts'
import type { ClaimedWebhookDeliveryRow } from './repository.ts'
import { parseRetryAfterSeconds } from './retry-schedule.ts'

const RESPONSE_BYTES_MAX = 65_536
const RESPONSE_BYTES_STORED = 1_024
const ERROR_LENGTH_MAX = 500
const GONE = 410

type Deps = {
  http: Pick<HttpClient, 'send'>
  secretEncryption: Pick<WebhookSecretEncryption, 'decrypt'>
  timeoutMs: number
}
type WebhookRequest = Pick<
  ClaimedWebhookDeliveryRow,
  'id' | 'event_id' | 'event_type' | 'body' | 'url' | 'secret' | 'previous_secret'
>

/** Outcome of one request. `error` is null when the endpoint responded with 2xx. */
export type WebhookAttemptOutcome = {
  readonly at: Date
  readonly ms: number
  readonly status_code: number | null
  readonly error: string | null
  readonly answer: string | null
  readonly isGone: boolean
  readonly retryAfterSeconds?: number | undefined
}

/** Returns a function that sends one request, signed as in Standard Webhooks, and returns its outcome. It never throws. */
export function createWebhookRequestSender({ http, secretEncryption, timeoutMs }: Deps) {
  async function post(
    { id, event_id, event_type, body, url, secret, previous_secret }: WebhookRequest,
    at: Date,
    signal: AbortSignal
  ) {
    const timestampSeconds = Math.floor(at.getTime() / 1_000)
    const secrets = [secret, previous_secret].flatMap(encrypted =>
      encrypted === null ? [] : secretEncryption.decrypt(encrypted)
    )
    return http.send({
      url,
      cause: { eventId: event_id, name: `webhook ${event_type}` },
      method: 'POST',
      body,
      timeoutMs,
      signal,
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(timestampSeconds),
        'webhook-signature': signWebhook(secrets, { id, timestampSeconds, body })
      },
      bytesMax: RESPONSE_BYTES_MAX,
      isCut: true
    })
  }

  return async (request: WebhookRequest, signal: AbortSignal): Promise<WebhookAttemptOutcome> => {
    const at = new Date()
    const startedAt = performance.now()
    const timing = () => ({ at, ms: Math.round(performance.now() - startedAt) })
    try {
      const { status, headers, body } = await post(request, at, signal)
      return {
        ...timing(),
        status_code: status,
        error: statusError(status),
        answer: storableText(body),
        isGone: status === GONE,
        retryAfterSeconds: parseRetryAfterSeconds(headers['retry-after'], at.getTime())
      }
    } catch (error) {
      return { ...timing(), status_code: null, error: errorText(error), answer: null, isGone: false }
    }
  }
}
export type SendWebhookRequest = ReturnType<typeof createWebhookRequestSender>

function statusError(status: number): string | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400
    ? `it answered ${status}: redirects are not followed; use the final URL`
    : `it answered ${status}`
}

/** Returns the message and the code of an error. Neither contains more of the URL than its host. */
function errorText(error: unknown): string {
  const { message, cause } = error as Error
  const code = (cause as { code?: unknown } | undefined)?.code
  return `${message}${typeof code === 'string' ? ` (${code})` : ''}`.slice(0, ERROR_LENGTH_MAX)
}

/** Returns the beginning of a body without NUL, which PostgreSQL cannot store. */
const storableText = (body: Buffer): string =>
  body.subarray(0, RESPONSE_BYTES_STORED).toString('utf8').replaceAll('\0', '\ufffd')
