import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer, ServerResponse, STATUS_CODES } from '../../platform/node-http.ts'
import { malformedRequestError } from '../errors.ts'
import { createProblemResponse, httpLayerProblems, type Problem } from '../problem.ts'
import type { AcceptQueue } from './accept-queue.ts'
import { type HttpConnections, httpConnectionStateOf, limitHttpConnections } from './connection-limits.ts'

const options = {
  // Node would answer a request without Host with an empty 400. The gateway sends a problem instead.
  requireHostHeader: false,
  headersTimeout: 8_000,
  requestTimeout: 300_000, // for a whole request, including uploads of large files
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1_000
}

const LINGER_MS = 1_000

export type NodeHttpServer = { server: Server; connections: HttpConnections }

/** Creates Node's HTTP server. `listener` also gets requests that Node would answer or drop, such as CONNECT. */
export function createNodeHttpServer(
  listener: RequestListener,
  acceptQueue: AcceptQueue,
  connectionsMax: number
): NodeHttpServer {
  const server = createServer(options, listener)
  server.on('checkExpectation', listener)
  server.on('connect', (request: IncomingMessage, socket) => answerConnect(request, socket, listener))
  server.on('connection', acceptQueue.connectionAccepted)
  return { server, connections: limitHttpConnections(server, connectionsMax) }
}

/** Sends a problem for malformed, late or too large requests, and closes the connection. */
export function refuseHttpConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  // The connection has sent its last response, so nothing may follow it.
  if (httpConnectionStateOf(socket as Socket).isEnding) {
    endSoon(socket)
    return
  }
  const known = httpLayerProblems[error.code as keyof typeof httpLayerProblems] as Problem | undefined
  const problem = known ?? {
    status: 400,
    code: malformedRequestError.code,
    detail: 'The request is not valid HTTP.'
  }
  const { headers, body } = createProblemResponse(problem, randomUUID(), { connection: 'close' })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
  endSoon(socket)
}

/** Answers CONNECT like any other method. Node detaches its socket from the server, so it is closed here. */
function answerConnect(request: IncomingMessage, socket: Duplex, listener: RequestListener): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<typeof response.assignSocket>[0])
  response.once('finish', () => socket.end())
  socket.on('error', () => socket.destroy())
  endSoon(socket)
  listener(request, response)
}

/** Destroys the socket if the client does not close it. */
function endSoon(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
