import { randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RequestSlots } from '../admission/request-slots.ts'
import { overloadedError } from '../errors.ts'
import { createProblemResponse, type Problem } from '../problem.ts'
import type { RequestClass } from '../routing/tiers.ts'
import type { AcceptQueue } from './accept-queue.ts'
import { httpConnectionStateOf } from './connection-limits.ts'
import { findFramingProblem } from './framing.ts'
import { hasStandardHead, type WithHead } from './reused-head.ts'
import { runInRequestContext } from './uncaught-errors.ts'

export type RequestListenerDeps = {
  slots: RequestSlots
  acceptQueue: AcceptQueue
  /** The class of a request; `undefined` for requests that are never refused. */
  classOf: (method: string, target: string) => RequestClass | undefined
  /** The network for rate limits, if it differs from the connection's. */
  networkOf: (request: IncomingMessage) => string | undefined
  isDraining: () => boolean
  /** Headers of every response. */
  headers: Readonly<Record<string, string>>
  handler: RequestListener
}

const OVERLOADED: Problem = { status: 503, code: overloadedError.code, detail: overloadedError().message }
/** Both have ten digits. */
const [FIRST_ID, LAST_ID] = [1_000_000_000, 9_999_999_999]

/**
 * Creates the first function that gets a request. Under overload it refuses requests before Fastify, with a prepared
 * response: 15 us instead of 70 (2026-11). Connections stay open, because a new one costs more than serving a cart.
 */
export function createRequestListener({
  slots,
  acceptQueue,
  classOf,
  networkOf,
  isDraining,
  headers,
  handler
}: RequestListenerDeps) {
  const { admission, refused } = slots
  const sendProblem = createProblemSender(headers)

  return function listener(request: IncomingMessage, response: ServerResponse): void {
    // The client reset the connection before it was accepted.
    if (request.socket.remoteAddress === undefined) {
      request.socket.destroy()
      return
    }
    const { socket } = request
    const connection = httpConnectionStateOf(socket)
    if (connection.isEnding) {
      stopReading(request)
      return
    }
    if (isDraining()) response.shouldKeepAlive = false
    const fault = findFramingProblem(request)
    if (fault !== undefined || connection.isFull) {
      connection.isEnding = true
      stopReading(request)
      response.shouldKeepAlive = false
      sendProblem(response, fault ?? OVERLOADED)
      return
    }
    if (admission.mayRefuse()) {
      const requestClass = classOf(request.method ?? '', request.url ?? '')
      const isRefused =
        requestClass !== undefined &&
        admission.wouldRefuse(requestClass, networkOf(request) ?? connection.network, performance.now())
      if (isRefused) {
        refused.add({ class: requestClass, reason: 'arrival' })
        // On an idle connection the response is written immediately, so the request need not be counted.
        if (!connection.isIdle || socket.writableLength > 0) connection.requestStarted(response)
        sendProblem(response, OVERLOADED)
        acceptQueue.requestRefused(socket, response)
        return
      }
    }
    connection.requestStarted(response)
    acceptQueue.requestAdmitted(socket, response)
    if (request.headers['transfer-encoding'] !== undefined) rejectTinyChunks(request, response)
    runInRequestContext(response, handler, request)
  }
}

/**
 * Stops reading from a connection that is being closed. Called for each further request, because Node resumes reading after
 * every request and response. Data that was read before is still parsed.
 */
const stopReading = ({ socket }: IncomingMessage): void => process.nextTick(() => socket.pause())

/** Clients send chunks of kilobytes. This many may be smaller, such as the last one. */
const SMALL_CHUNKS_MAX = 1_000
const CHUNK_BYTES_MIN = 64

/**
 * Closes connections that send a body in tiny chunks, or whose chunked body has not ended when the response is sent. Reading
 * a chunk costs the same whatever its size. Fifty bodies in chunks of one byte delayed other requests by 8 s, and by 26 s
 * after the response (2026-11). The parser is paused first, because it would parse the data that it already has.
 */
function rejectTinyChunks(request: IncomingMessage, response: ServerResponse): void {
  const socket = request.socket as Socket & { parser?: { pause?(): void } }
  const push = request.push.bind(request)
  let [chunks, bytes] = [0, 0]
  request.push = (chunk: Buffer | null) => {
    chunks += 1
    bytes += chunk?.length ?? 0
    if (chunk === null || chunks <= SMALL_CHUNKS_MAX || bytes >= chunks * CHUNK_BYTES_MIN) return push(chunk)
    socket.parser?.pause?.()
    socket.destroy()
    return false
  }
  response.once('finish', () => {
    if (!request.complete) socket.destroySoon()
  })
}

/** Creates a function that sends a problem without Fastify. Request ids are a random prefix and a counter, which is cheap. */
function createProblemSender(common: Readonly<Record<string, string>>) {
  const idPrefix = randomBytes(6).toString('hex')
  let lastId = FIRST_ID
  /**
   * Prepares the parts of the response that do not depend on the request: the headers, and the body before and after the id.
   */
  const prepare = (problem: Problem) => {
    const { headers, body } = createProblemResponse(problem, `${idPrefix}${FIRST_ID}`, common)
    const [before = '', after = ''] = body.split(headers['x-request-id'] as string)
    delete headers['x-request-id']
    return { before, after, head: [...Object.entries(headers).flat(), 'x-request-id'] }
  }
  const refusal = prepare(OVERLOADED)
  /** Node's header block of the first refusal, before and after the id. Building it again costs 4 of 19 us (2026-11). */
  let reusedHead: [before: string, after: string] | undefined

  function writeHead(response: WithHead, problem: Problem, head: readonly string[], id: string): void {
    const isReusable = problem === OVERLOADED && hasStandardHead(response)
    if (isReusable && reusedHead !== undefined) {
      response.statusCode = problem.status
      response._header = reusedHead[0] + id + reusedHead[1]
      return
    }
    response.sendDate = !isReusable // A reused date would be wrong, and a 503 may omit it (RFC 9110, 6.6.1).
    response.writeHead(problem.status, [...head, id])
    if (isReusable) reusedHead = response._header?.split(id) as [string, string]
  }

  return function sendProblem(response: ServerResponse, problem: Problem): void {
    const { before, after, head } = problem === OVERLOADED ? refusal : prepare(problem)
    lastId = lastId === LAST_ID ? FIRST_ID : lastId + 1
    const id = `${idPrefix}${lastId}`
    writeHead(response as WithHead, problem, head, id)
    // ASCII only, so latin1 needs no encoding.
    response.end(before + id + after, 'latin1')
  }
}
