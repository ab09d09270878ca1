import { randomUUID } from 'node:crypto'
import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { malformedRequest } from './errors.ts'
import { httpProblems, type Problem, problemBody } from './problem.ts'

/** Options of Node's server, beside those that Fastify has itself. */
export const nodeServerOptions = {
  // Node would answer a request without Host with an empty 400; the gateway says why.
  requireHostHeader: false,
  // Below the limit of a whole request: Node takes the smaller of the two as the limit of the headers.
  headersTimeout: 20_000,
  connectionsCheckingInterval: 5_000
}

const LINGER_MS = 1_000

/** Answers what is not HTTP, or came too late or too large to become a request, and hangs up. */
export function refuseConnection(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy()
    return
  }
  const known = httpProblems[error.code as keyof typeof httpProblems] as Problem | undefined
  const problem = known ?? { status: 400, code: malformedRequest.code, detail: 'This is not HTTP.' }
  const body = problemBody(problem, randomUUID())
  const head = [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    'Content-Type: application/problem+json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close'
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // A client that does not hang up in its turn must not keep the connection.
  setTimeout(() => socket.destroy(), LINGER_MS).unref()
}

/** Lets the gateway answer also what Node would answer, or drop, by itself: CONNECT and unknown expectations. */
export function routeEveryRequest(app: FastifyInstance): void {
  app.server.on('checkExpectation', app.routing)
  app.server.on('connect', (request: IncomingMessage, socket) => {
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket as Parameters<ServerResponse['assignSocket']>[0])
    response.once('finish', () => socket.end())
    socket.on('error', () => socket.destroy())
    app.routing(request, response)
  })
}
