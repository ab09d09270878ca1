import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import type { RequestOptions } from './app.ts'

export type Answer = {
  status: number
  headers: IncomingHttpHeaders
  // biome-ignore lint/suspicious/noExplicitAny: a test reads fields of whatever came back
  json: any
}
export type HttpClient = {
  /** Sends a request over a socket; `undefined` when the connection broke before the answer was complete. */
  send(method: string, path: string, options?: SendOptions): Promise<Answer | undefined>
  close(): void
}
/** `cutAfterMs`: destroy the socket so long after the request was written, answered or not. */
type SendOptions = RequestOptions & { cutAfterMs?: number }

const TIMEOUT_MS = 20_000

/** HTTP over real sockets, kept alive, at most `sockets` of them. */
export function createHttpClient(origin: string, sockets: number): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: sockets })

  const send = (method: string, path: string, { token, headers, body, cutAfterMs }: SendOptions = {}) =>
    new Promise<Answer | undefined>(resolve => {
      const payload = body === undefined ? undefined : JSON.stringify(body)
      const request = httpRequest(new URL(path, origin), {
        method,
        agent,
        timeout: TIMEOUT_MS,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(payload === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
          ...headers
        }
      })
      request.on('error', () => resolve(undefined))
      request.on('timeout', () => request.destroy())
      request.on('response', response => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', chunk => {
          text += chunk
        })
        response.on('error', () => resolve(undefined))
        response.on('close', () => resolve(undefined))
        response.on('end', () => {
          if (!response.complete) return resolve(undefined)
          const { statusCode = 0, headers } = response
          resolve({ status: statusCode, headers, json: parsed(text) })
        })
      })
      request.end(payload, () => {
        if (cutAfterMs !== undefined) setTimeout(() => request.destroy(), cutAfterMs)
      })
    })

  return { send, close: () => agent.destroy() }
}

/** What is not JSON has no fields to read. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
