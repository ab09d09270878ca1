import type { HttpClient } from '../../../platform/http/client.ts'
import type { Sealing } from '../signatures/sealing.ts'
import { signatureOf } from '../signatures/sign.ts'
import { retryAfterSecondsOf } from './pause.ts'
import type { ClaimedRow } from './repository.ts'

const ANSWER_BYTES_MAX = 65_536
const ANSWER_BYTES_KEPT = 1_024
const ERROR_LENGTH_MAX = 500
const GONE = 410

type Deps = { http: Pick<HttpClient, 'send'>; sealing: Pick<Sealing, 'open'>; timeoutMs: number }
type Wanted = Pick<ClaimedRow, 'id' | 'body' | 'url' | 'secret' | 'previous_secret'>

/** What became of a try. Without an error it has arrived. */
export type Try = {
  readonly at: Date
  readonly ms: number
  readonly status_code: number | null
  readonly error: string | null
  readonly answer: string | null
  readonly isGone: boolean
  readonly retryAfterSeconds?: number | undefined
}

/** Makes one request to an endpoint, signed as Standard Webhooks says, and tells what came of it. It does not throw. */
export function createRequest({ http, sealing, timeoutMs }: Deps) {
  async function ask({ id, body, url, secret, previous_secret }: Wanted, at: Date, signal: AbortSignal) {
    const seconds = Math.floor(at.getTime() / 1_000)
    const secrets = [secret, previous_secret].flatMap(sealed => (sealed === null ? [] : sealing.open(sealed)))
    return http.send({
      ...{ url, method: 'POST', body, timeoutMs, signal },
      headers: {
        'content-type': 'application/json',
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signatureOf(secrets, { id, seconds, body })
      },
      bytesMax: ANSWER_BYTES_MAX,
      isCut: true
    })
  }

  return async (wanted: Wanted, signal: AbortSignal): Promise<Try> => {
    const at = new Date()
    const startedAt = performance.now()
    const took = () => ({ at, ms: Math.round(performance.now() - startedAt) })
    try {
      const { status, headers, body } = await ask(wanted, at, signal)
      return {
        ...{ ...took(), status_code: status, error: faultOf(status), answer: textOf(body) },
        isGone: status === GONE,
        retryAfterSeconds: retryAfterSecondsOf(headers['retry-after'], at.getTime())
      }
    } catch (error) {
      return { ...took(), status_code: null, error: reasonOf(error), answer: null, isGone: false }
    }
  }
}
export type Send = ReturnType<typeof createRequest>

function faultOf(status: number): string | null {
  if (status >= 200 && status < 300) return null
  return status >= 300 && status < 400
    ? `it answered ${status}: redirects are not followed; give the address itself`
    : `it answered ${status}`
}

/** In a sentence for whoever looks after the endpoint; of an address it has no more than its host. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error
  const code = (cause as { code?: unknown } | undefined)?.code
  return `${message}${typeof code === 'string' ? ` (${code})` : ''}`.slice(0, ERROR_LENGTH_MAX)
}

/** The first of it, as text that PostgreSQL keeps. */
const textOf = (body: Buffer): string =>
  body.subarray(0, ANSWER_BYTES_KEPT).toString('utf8').replaceAll('\0', '\ufffd')
