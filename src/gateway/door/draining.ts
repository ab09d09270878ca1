import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

export type Draining = {
  begin(): void
  isDraining(): boolean
  hold(isHeld: boolean): void
  /** Whether load balancers should send no requests: while it drains, or is held. */
  isHeld(): boolean
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when the process begins to stop. Long work then answers what it has done, within 20 seconds. */
    readonly stopping: AbortSignal
  }
}

/**
 * How the server stops without losing an answer. Once draining has begun each answer says `Connection: close`, and its
 * socket ends: clients and load balancers go elsewhere with their next request, and no connection that is kept alive
 * holds up the close.
 */
export function prepareDraining(
  app: FastifyInstance,
  onHeld: (isHeld: boolean) => void = () => {}
): Draining {
  let [isDraining, isHeld] = [false, false]
  const stopping = new AbortController()
  app.decorateRequest('stopping', { getter: () => stopping.signal })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (isDraining) reply.raw.shouldKeepAlive = false
    done(null, payload)
  })
  spareAnswersUnderWay(app.server)
  const begin = () => {
    isDraining = true
    onHeld(true)
    stopping.abort()
    // For answers that had begun: their sockets end a second after them.
    app.server.keepAliveTimeout = 1
  }
  app.addHook('preClose', done => {
    begin()
    done()
  })
  return {
    begin,
    isDraining: () => isDraining,
    hold: wanted => {
      isHeld = wanted
      onHeld(isDraining || isHeld)
    },
    isHeld: () => isDraining || isHeld
  }
}

/**
 * When it closes, Node takes a connection for idle as soon as the answer was handed to the socket, and destroys it
 * with whatever of the answer was not sent yet (26.10: a slow reader gets 4 of 50 MB).
 */
function spareAnswersUnderWay(server: FastifyInstance['server']): void {
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
