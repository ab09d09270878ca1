import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { createServer, ServerResponse, STATUS_CODES } from '../../platform/node-http.ts'
import { malformedRequest } from '../errors.ts'
import { httpProblems, type Problem, problemAnswer } from '../problem.ts'
import { boundConnections, type Connections, connectionOf } from './connections.ts'
import type { Intake } from './intake.ts'

const options = {
  // Node would answer a request without Host with an empty 400; the gateway says why.
  requireHostHeader: false,
  headersTimeout: 8_000,
  requestTimeout: 300_000, // of a whole request, uploads of large files among them
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 1_000
}

const LINGER_MS = 1_000

export type NodeServer = { server: Server; connections: Connections }

/** Node's server, with `listener` before everything, also what Node would answer or drop by itself. */
export function createNodeServer(
  listener: RequestListener,
  intake: Intake,
  connectionsMax: number
): NodeServer {
  const server = createServer(options, listener)
  server.on('checkExpectation', listener)
  server.on('connect', (request: IncomingMessage, socket) => answerConnect(request, socket, listener))
  server.on('connection', intake.arrived)
  return { server, connections: boundConnections(server, connectionsMax) }
}

/** Answers what is not HTTP, or came too late or too large to become a request, and hangs up. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  // It has had its last answer.
  if (connectionOf(socket as Socket).isEnding) {
    endSoon(socket)
    return
  }
  const known = httpProblems[error.code as keyof typeof httpProblems] as Problem | undefined
  const problem = known ?? { status: 400, code: malformedRequest.code, detail: 'This is not HTTP.' }
  const { headers, body } = problemAnswer(problem, randomUUID(), { connection: 'close' })
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${lines.join('')}\r\n${body}`)
  endSoon(socket)
}

/** CONNECT is answered like any other method. Node has let go of its connection: nobody else would end it. */
function answerConnect(request: IncomingMessage, socket: Duplex, listener: RequestListener): void {
  const response = new ServerResponse(request)
  response.shouldKeepAlive = false
  response.assignSocket(socket as Parameters<typeof response.assignSocket>[0])
  response.once('finish', () => socket.end())
  socket.on('error', () => socket.destroy())
  endSoon(socket)
  listener(request, response)
}

/** A client that does not hang up in its turn must not keep the connection. */
function endSoon(socket: Duplex): void {
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}
