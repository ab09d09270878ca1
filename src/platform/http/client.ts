import { lookup as dnsLookup } from 'node:dns'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { request as requestPlainly } from '../node-http.ts'
import { isPublicAddress, lookupPublicAddress, OutboundRequestRefusedError } from './addresses.ts'

const TIMEOUT_MS = 10_000
const CONNECT_MS = 3_000
const ANSWER_BYTES_MAX = 1_048_576
const HEADER_BYTES_MAX = 16_384

export type OutgoingHttpRequest = {
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers?: Record<string, string>
  body?: string | Buffer
  /** Timeout of the whole exchange, from the DNS lookup to the last byte. */
  timeoutMs?: number
  /** Most bytes of the response body. */
  bytesMax?: number
  /** Whether a response body above `bytesMax` is truncated instead of rejected. */
  isCut?: boolean
  signal?: AbortSignal
  /** The event that the request delivers, and the name of its span. The request belongs to the trace of the event. */
  cause?: { eventId: string; name: string }
  /** Whether the operator configured the URL. It may then be private, and plain http. */
  isConfigured?: boolean
}
type HttpAnswer = { status: number; headers: Record<string, string>; body: Buffer }
export type HttpClient = {
  /**
   * Sends one request and returns the response with any status. Follows no redirect and retries nothing.
   * @throws OutboundRequestRefusedError for a forbidden address. @throws OutboundFailed without a complete response.
   */
  send(request: OutgoingHttpRequest): Promise<HttpAnswer>
  /**
   * Checks a URL without resolving its host. @throws OutboundRequestRefusedError for one that is never allowed.
   */
  judge(request: Pick<OutgoingHttpRequest, 'url' | 'isConfigured'>): URL
}

/** No complete response arrived. The server may have handled the request nevertheless. */
class OutboundFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OutboundFailed'
  }
}

/** Sends requests to public addresses only, except where the configuration allows others. */
export function createHttpClient({
  privateHosts,
  lookup = dnsLookup
}: {
  privateHosts: readonly string[]
  lookup?: typeof dnsLookup
}): HttpClient {
  const trusted = new Set(privateHosts)
  const lookups = { trusted: lookup, judged: lookupPublicAddress(lookup) }

  /** @throws OutboundRequestRefusedError */
  function judge({ url, isConfigured = false }: Pick<OutgoingHttpRequest, 'url' | 'isConfigured'>) {
    const target = URL.parse(url)
    if (target === null) throw new OutboundRequestRefusedError('url', 'The address is not a URL')
    const { protocol, hostname, username, password } = target
    if (protocol !== 'https:' && !(isConfigured && protocol === 'http:'))
      throw new OutboundRequestRefusedError('scheme', `${target.origin} cannot be requested over ${protocol}`)
    if (username !== '' || password !== '')
      throw new OutboundRequestRefusedError(
        'credentials',
        `The URL at ${target.origin} must not contain a user or password`
      )
    const host = hostname.replace(/^\[|\]$/g, '')
    const isTrusted = isConfigured || trusted.has(host)
    if (!isTrusted && isIP(host) !== 0 && !isPublicAddress(host))
      throw new OutboundRequestRefusedError('address', `${host} is not a public address`)
    return { target, host, lookup: isTrusted ? lookups.trusted : lookups.judged }
  }

  return {
    judge: request => judge(request).target,
    async send(request) {
      const { target, host, lookup } = judge(request)
      const { method = 'GET', headers = {}, body, timeoutMs = TIMEOUT_MS } = request
      const isSecure = target.protocol === 'https:'
      const options = {
        host,
        port: target.port,
        path: target.pathname + target.search,
        method,
        headers: { 'user-agent': 'Cartwright', ...headers, 'accept-encoding': 'identity' },
        lookup,
        // No keep-alive, so that no connection is reused for another host name.
        agent: false as const,
        maxHeaderSize: HEADER_BYTES_MAX
      }
      // Loaded on demand, because it takes 5 ms to load.
      const ask = isSecure ? process.getBuiltinModule('node:https').request : requestPlainly
      const sent = ask({
        ...options,
        headers: { ...options.headers, host: target.host }
      })
      let failure: OutboundFailed | undefined
      const giveUp = (why: string) => {
        failure ??= new OutboundFailed(`${target.origin} ${why}`)
        sent.destroy(failure)
      }
      const overall = setTimeout(() => giveUp(`sent no complete response within ${timeoutMs} ms`), timeoutMs)
      const connecting = setTimeout(() => giveUp(`was not connected within ${CONNECT_MS} ms`), CONNECT_MS)
      const abort = () => giveUp('was aborted by the caller')
      request.signal?.addEventListener('abort', abort)
      sent.on('socket', socket =>
        socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(connecting))
      )
      try {
        if (request.signal?.aborted) abort()
        const { bytesMax = ANSWER_BYTES_MAX, isCut = false } = request
        return await readAnswer(sent, body, { bytesMax, isCut })
      } catch (error) {
        if (error instanceof OutboundRequestRefusedError || error instanceof OutboundFailed) throw error
        throw failure ?? new OutboundFailed(`${target.origin} sent no complete response`, { cause: error })
      } finally {
        clearTimeout(overall)
        clearTimeout(connecting)
        request.signal?.removeEventListener('abort', abort)
        sent.destroy()
      }
    }
  }
}

async function readAnswer(
  request: ClientRequest,
  body: string | Buffer | undefined,
  { bytesMax, isCut }: { bytesMax: number; isCut: boolean }
): Promise<HttpAnswer> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request.once('response', resolve)
    // Later errors surface on the response.
    request.on('error', reject)
    request.once('close', () => reject(new Error('the connection closed without a response')))
    request.end(body)
  })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const left = bytesMax - bytes
    bytes += chunk.length
    if (bytes > bytesMax && !isCut) throw new OutboundFailed(`The response is larger than ${bytesMax} bytes`)
    chunks.push(chunk.subarray(0, left))
    if (bytes > bytesMax) break
  }
  return { status: answer.statusCode ?? 0, headers: headersOf(answer), body: Buffer.concat(chunks) }
}

/** Joins repeated headers into one line (RFC 9110, section 5.3). */
const headersOf = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headersDistinct).map(([name, lines = []]) => [name, lines.join(', ')]))
