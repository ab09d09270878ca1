import { Server as NetServer, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export type ServerDraining = {
  begin(): void
  /** Drains while another process listens on the same port: accepts no more connections, and `/readyz` stays as it is. */
  retire(): void
  isDraining(): boolean
  hold(isHeld: boolean): void
  /** Whether `/readyz` answers 503: while draining or held. */
  isHeld(): boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when the process begins to stop. Long-running handlers then respond with what they have done, within 20 seconds. */
    readonly stopping: AbortSignal
  }
}

/**
 * Stops the server without losing a response. While draining, each response has `Connection: close`, so that clients and load
 * balancers open new connections elsewhere, and no keep-alive connection delays the close.
 */
export function createServerDraining(
  app: FastifyInstance,
  onHeld: (isHeld: boolean) => void = () => {}
): ServerDraining {
  let [isDraining, isHeld] = [false, false]
  const stopping = new AbortController()
  app.decorateRequest('stopping', { getter: () => stopping.signal })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isDraining) reply.raw.shouldKeepAlive = false
    done(null, payload)
  })
  keepSendingSockets(app.server)
  let isReplaced = false
  const begin = () => {
    isDraining = true
    if (!isReplaced) onHeld(true)
    stopping.abort()
    // Responses that started before draining lack `Connection: close`. With this timeout their sockets close a second
    // later.
    app.server.keepAliveTimeout = 1
  }
  app.addHook('preClose', done => {
    begin()
    done()
  })
  return {
    begin,
    retire: () => {
      isReplaced = true
      begin()
      // Closes the listening socket only. The method of the HTTP server also closes idle connections.
      NetServer.prototype.close.call(app.server)
    },
    isDraining: () => isDraining,
    hold: wanted => {
      isHeld = wanted
      onHeld(isDraining || isHeld)
    },
    isHeld: () => (isDraining && !isReplaced) || isHeld
  }
}

/**
 * Keeps sockets open that still send a response. On close, Node treats a connection as idle once the response is written to
 * the socket. It destroys it with its buffer: a slow client gets 4 of 50 MB (Node 26.10).
 */
function keepSendingSockets(server: FastifyInstance['server']): void {
  const sockets = new Set<Socket>()
  server.on('connection', socket => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  const closeIdleConnections = server.closeIdleConnections.bind(server)
  server.closeIdleConnections = () => {
    const sending = [...sockets].filter(socket => socket.writableLength > 0)
    for (const socket of sending) socket.destroy = () => socket
    closeIdleConnections()
    for (const socket of sending) Reflect.deleteProperty(socket, 'destroy')
  }
}
