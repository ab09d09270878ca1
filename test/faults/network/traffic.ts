import { randomInt } from 'node:crypto'
import { createHttpClient, type HttpClient } from '../../support/http-client.ts'

const SOCKETS_MAX = 500
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/g

export type RequestKind = 'browse' | 'account' | 'diagnostics'

/** One request and its outcome, as its client saw it. Times are `performance.now()`. */
export type RequestAttempt = {
  /** The index of the process that received the request. */
  process: number
  kind: RequestKind
  /** Method and path, without ids. */
  route: string
  isWrite: boolean
  startedAt: number
  endedAt: number
  /** `undefined` when the connection broke before the answer was complete, or none came within 20 s. */
  status: number | undefined
  code: string | undefined
  hasRetryAfter: boolean
}

/** Clients of all processes of a shop. `tries` records all their requests. */
export type Traffic = {
  attempts: RequestAttempt[]
  /** Sends each request to a random process, like a load balancer. */
  anywhere: HttpClient
  /** One client per process. */
  at: HttpClient[]
}

export function createTraffic(origins: readonly string[]): Traffic {
  const tries: RequestAttempt[] = []
  const at = origins.map((origin, process): HttpClient => {
    const http = createHttpClient(origin, SOCKETS_MAX)
    const send: HttpClient['send'] = async (method, path, options) => {
      const startedAt = performance.now()
      const answer = await http.send(method, path, options)
      // A client that disconnected expects no response.
      if (answer === undefined && options?.cutAfterMs !== undefined) return answer
      tries.push({
        process,
        kind: kindOf(path),
        route: `${method} ${path.replace(/\?.*/, '').replace(UUID, ':id')}`,
        isWrite: method !== 'GET',
        startedAt,
        endedAt: performance.now(),
        status: answer?.status,
        code: answer?.json?.code,
        hasRetryAfter: answer?.headers['retry-after'] !== undefined
      })
      return answer
    }
    return { send, close: http.close }
  })
  const anywhere: HttpClient = {
    send: (...request) => (at[randomInt(at.length)] as HttpClient).send(...request),
    close: () => {
      for (const client of at) client.close()
    }
  }
  return { attempts: tries, anywhere, at }
}

function kindOf(path: string): RequestKind {
  if (!path.startsWith('/api/')) return 'diagnostics'
  return /^\/api\/(products|categories)/.test(path) ? 'browse' : 'account'
}
