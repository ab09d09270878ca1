import { randomBytes } from 'node:crypto'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Visits } from '../admission/visits.ts'
import { overloaded } from '../errors.ts'
import { type Problem, problemAnswer } from '../problem.ts'
import type { RequestClass } from '../routing/tiers.ts'
import { connectionOf } from './connections.ts'
import { framingFault } from './framing.ts'
import type { Intake } from './intake.ts'
import { runRequest } from './uncaught.ts'

export type DoorDeps = {
  visits: Visits
  intake: Intake
  /** The class of a request; `undefined` for what is never refused. */
  classOf: (method: string, target: string) => RequestClass | undefined
  /** The network that a request counts for, where it is another than that of its connection. */
  networkOf: (request: IncomingMessage) => string | undefined
  isDraining: () => boolean
  /** What every answer carries. */
  headers: Readonly<Record<string, string>>
  handler: RequestListener
}

const OVERLOADED: Problem = { status: 503, code: overloaded.code, detail: overloaded().message }
/** All of ten digits. */
const [FIRST_ID, LAST_ID] = [1_000_000_000, 9_999_999_999]

/**
 * The first function that sees a request. What has to be refused is refused here, before Fastify has made anything of
 * it, with an answer that lies ready: 15 us instead of 70 (2026-11), so that an overloaded process has time left to
 * serve. Connections are kept: making a new one costs more than serving a cart.
 */
export function createDoor({ visits, intake, classOf, networkOf, isDraining, headers, handler }: DoorDeps) {
  const { admission, refused } = visits
  const answer = createAnswer(headers)

  return function listener(request: IncomingMessage, response: ServerResponse): void {
    // It was reset before it was accepted: nobody can tell whose it was, and nobody waits for an answer.
    if (request.socket.remoteAddress === undefined) {
      request.socket.destroy()
      return
    }
    const { socket } = request
    const connection = connectionOf(socket)
    if (connection.isEnding) {
      readNoMore(request)
      return
    }
    if (isDraining()) response.shouldKeepAlive = false
    const fault = framingFault(request)
    if (fault !== undefined || connection.isFull) {
      connection.isEnding = true
      readNoMore(request)
      response.shouldKeepAlive = false
      answer(response, fault ?? OVERLOADED)
      return
    }
    if (admission.isShort()) {
      const requestClass = classOf(request.method ?? '', request.url ?? '')
      const isRefused =
        requestClass !== undefined &&
        admission.wouldRefuse(requestClass, networkOf(request) ?? connection.network, performance.now())
      if (isRefused) {
        refused.add({ class: requestClass, reason: 'door' })
        // Otherwise it is answered here and now.
        if (!connection.isIdle || socket.writableLength > 0) connection.asked(response)
        answer(response, OVERLOADED)
        intake.refused(socket, response)
        return
      }
    }
    connection.asked(response)
    intake.letIn(socket, response)
    if (request.headers['transfer-encoding'] !== undefined) refuseCrumbs(request, response)
    runRequest(response, handler, request)
  }
}

/**
 * Requests that nobody will answer would pile up on a connection that ends. Called for each of them, because Node reads
 * on behind every request and every answer; what has come with it is still parsed.
 */
const readNoMore = ({ socket }: IncomingMessage): void => process.nextTick(() => socket.pause())

/** Clients send chunks of kilobytes. These many may be smaller, such as the last one. */
const SMALL_CHUNKS_MAX = 1_000
const CHUNK_BYTES_MIN = 64

/**
 * Reading a chunk costs the same whatever its size: fifty bodies in chunks of one byte kept everybody else waiting for
 * 8 s, and for 26 s where the body was of no interest any more (2026-11). A body in crumbs ends its connection at once,
 * and so does an answer that did not wait for the end of its chunks. Without the pause, what has come is still parsed.
 */
function refuseCrumbs(request: IncomingMessage, response: ServerResponse): void {
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

/** The head of an answer as Node has written it, and will send it; its types do not declare that. */
type WithHead = ServerResponse & { _header: string | null }

/** Answers a problem from outside of Fastify. Its id is cheap, and the only one of its kind. */
function createAnswer(common: Readonly<Record<string, string>>) {
  const idPrefix = randomBytes(6).toString('hex')
  let lastId = FIRST_ID
  /** All that does not depend on the request lies ready: the head, and the body in two parts, without the id. */
  const prepare = (problem: Problem) => {
    const { headers, body } = problemAnswer(problem, `${idPrefix}${FIRST_ID}`, common)
    const [before = '', after = ''] = body.split(headers['x-request-id'] as string)
    delete headers['x-request-id']
    return { before, after, head: [...Object.entries(headers).flat(), 'x-request-id'] }
  }
  const refusal = prepare(OVERLOADED)
  /** What Node made of the first refusal's head, without its id: to have it made anew costs 4 us of 19 (2026-11). */
  let madeHead: [before: string, after: string] | undefined

  function writeHead(response: WithHead, problem: Problem, head: readonly string[], id: string): void {
    const isUsual = problem === OVERLOADED && isPlain(response)
    if (isUsual && madeHead !== undefined) {
      response.statusCode = problem.status
      response._header = madeHead[0] + id + madeHead[1]
      return
    }
    response.sendDate = !isUsual // The date would be that of the first; a 503 may lack it (RFC 9110, 6.6.1).
    response.writeHead(problem.status, [...head, id])
    if (isUsual) madeHead = response._header?.split(id) as [string, string]
  }

  return function answer(response: ServerResponse, problem: Problem): void {
    const { before, after, head } = problem === OVERLOADED ? refusal : prepare(problem)
    lastId = lastId === LAST_ID ? FIRST_ID : lastId + 1
    const id = `${idPrefix}${lastId}`
    writeHead(response as WithHead, problem, head, id)
    // ASCII only, so that Node need not encode it.
    response.end(before + id + after, 'latin1')
  }
}

/** Nothing about this answer depends on its request: the connection stays, it has a body, and no other headers. */
const isPlain = (response: ServerResponse): boolean =>
  response.shouldKeepAlive &&
  response.req.httpVersionMinor === 1 &&
  response.req.method !== 'HEAD' &&
  response.getHeaderNames().length === 0
