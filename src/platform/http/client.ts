import { lookup as dnsLookup } from 'node:dns'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { request as requestPlainly } from '../node-http.ts'
import { isPublic, OutboundRefused, publicLookup } from './addresses.ts'

const TIMEOUT_MS = 10_000
const CONNECT_MS = 3_000
const ANSWER_BYTES_MAX = 1_048_576
const HEADER_BYTES_MAX = 16_384

export type HttpRequest = {
  url: string
  method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  headers?: Record<string, string>
  body?: string | Buffer
  /** For all of it, from the first look-up to the last byte. */
  timeoutMs?: number
  /** Of the answer's body. */
  bytesMax?: number
  /** A longer one is cut there, and is an answer all the same. */
  isCut?: boolean
  signal?: AbortSignal
  /** The operator wrote this address into the configuration: it may be private, and plain http. */
  isConfigured?: boolean
}
type HttpAnswer = { status: number; headers: Record<string, string>; body: Buffer }
export type HttpClient = {
  /**
   * Sends one request and reads its answer, whatever its status; nothing is followed and nothing tried again.
   * @throws OutboundRefused for an address that it may not be sent to. @throws OutboundFailed when no whole answer came.
   */
  send(request: HttpRequest): Promise<HttpAnswer>
  /**
   * The address, as far as it can be judged before its name is looked up. @throws OutboundRefused for one that nothing
   * would ever be sent to.
   */
  judge(request: Pick<HttpRequest, 'url' | 'isConfigured'>): URL
}

/** No whole answer came: whether the other side did what it was asked is not known. */
class OutboundFailed extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OutboundFailed'
  }
}

/** Sends what the shop asks of others, on the Internet and nowhere else. */
export function createHttpClient({
  privateHosts,
  lookup = dnsLookup
}: {
  privateHosts: readonly string[]
  lookup?: typeof dnsLookup
}): HttpClient {
  const trusted = new Set(privateHosts)
  const lookups = { trusted: lookup, judged: publicLookup(lookup) }

  /** @throws OutboundRefused */
  function judge({ url, isConfigured = false }: Pick<HttpRequest, 'url' | 'isConfigured'>) {
    const target = URL.parse(url)
    if (target === null) throw new OutboundRefused('url', 'The address is no URL')
    const { protocol, hostname, username, password } = target
    if (protocol !== 'https:' && !(isConfigured && protocol === 'http:'))
      throw new OutboundRefused('scheme', `${target.origin} is not asked over ${protocol}`)
    if (username !== '' || password !== '')
      throw new OutboundRefused('credentials', `The address at ${target.origin} has a user in it`)
    const host = hostname.replace(/^\[|\]$/g, '')
    const isTrusted = isConfigured || trusted.has(host)
    if (!isTrusted && isIP(host) !== 0 && !isPublic(host))
      throw new OutboundRefused('address', `${host} is not a public address`)
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
        // A connection of its own: none is kept that could be used for another name.
        agent: false as const,
        maxHeaderSize: HEADER_BYTES_MAX
      }
      // Its part of Node takes 5 ms to load: only those who use it wait for it.
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
      const overall = setTimeout(() => giveUp(`gave no whole answer within ${timeoutMs} ms`), timeoutMs)
      const connecting = setTimeout(() => giveUp(`was not connected within ${CONNECT_MS} ms`), CONNECT_MS)
      const abort = () => giveUp('is not waited for any longer')
      request.signal?.addEventListener('abort', abort)
      sent.on('socket', socket =>
        socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(connecting))
      )
      try {
        if (request.signal?.aborted) abort()
        const { bytesMax = ANSWER_BYTES_MAX, isCut = false } = request
        return await readAnswer(sent, body, { bytesMax, isCut })
      } catch (error) {
        if (error instanceof OutboundRefused || error instanceof OutboundFailed) throw error
        throw failure ?? new OutboundFailed(`${target.origin} gave no whole answer`, { cause: error })
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
    // Whatever goes wrong later is said by the answer's own end.
    request.on('error', reject)
    request.once('close', () => reject(new Error('the connection ended without an answer')))
    request.end(body)
  })
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    const left = bytesMax - bytes
    bytes += chunk.length
    if (bytes > bytesMax && !isCut) throw new OutboundFailed(`The answer is larger than ${bytesMax} bytes`)
    chunks.push(chunk.subarray(0, left))
    if (bytes > bytesMax) break
  }
  return { status: answer.statusCode ?? 0, headers: headersOf(answer), body: Buffer.concat(chunks) }
}

/** A header that came more than once is one line, as RFC 9110, section 5.3, has it. */
const headersOf = ({ headersDistinct }: IncomingMessage): Record<string, string> =>
  Object.fromEntries(Object.entries(headersDistinct).map(([name, lines = []]) => [name, lines.join(', ')]))
