import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOfAddress } from '../callers/rate-limits.ts'

/** Maximum of unanswered requests on one connection. Most clients send one at a time; pipelining more gains nothing. */
const UNANSWERED_MAX = 8
/**
 * A response is canceled when its client reads nothing for this time. The kernel reports progress only when a third of its
 * buffer, about 100 kB, is free. So a client must read at least 7 kB a second.
 */
const STALLED_MS = 15_000

/** The state of a connection, stored on its socket. */
export class HttpConnectionState {
  readonly network: string
  isEnding = false
  #unanswered = 0

  constructor(socket: Socket) {
    this.network = networkOfAddress(socket.remoteAddress ?? '')
  }

  get isIdle(): boolean {
    return this.#unanswered === 0
  }
  /** Whether the connection has the maximum of unanswered requests. */
  get isFull(): boolean {
    return this.#unanswered >= UNANSWERED_MAX
  }

  /** Counts a request until its response is closed. */
  requestStarted(response: ServerResponse): void {
    this.#unanswered += 1
    response.on('close', this.#requestClosed)
  }
  readonly #requestClosed = () => {
    this.#unanswered -= 1
  }
}

const connectionOfSocket = Symbol('connection')
type SocketWithState = Socket & { [connectionOfSocket]?: HttpConnectionState }

export const httpConnectionStateOf = (socket: Socket): HttpConnectionState => {
  const known = socket as SocketWithState
  known[connectionOfSocket] ??= new HttpConnectionState(socket)
  return known[connectionOfSocket]
}

const isIdle = (socket: Socket): boolean =>
  httpConnectionStateOf(socket).isIdle && socket.writableLength === 0

export type HttpConnections = {
  /** Closes idle connections, repeatedly until all are closed. */
  closeIdle(): void
}

/**
 * Limits connections. Closes those whose client does not read its response. Above `connectionsMax`, closes the oldest idle
 * connection of the network with the most connections, or its newest if none is idle.
 */
export function limitHttpConnections(server: Server, connectionsMax: number): HttpConnections {
  const byNetwork = new Map<string, Set<Socket>>()
  let count = 0
  let isEnding = false

  const forget = (network: string, socket: Socket) => {
    count -= 1
    const sockets = byNetwork.get(network)
    sockets?.delete(socket)
    if (sockets?.size === 0) byNetwork.delete(network)
  }
  const closeOne = () => {
    let most: Set<Socket> = new Set()
    for (const sockets of byNetwork.values()) if (sockets.size > most.size) most = sockets
    const all = [...most]
    const chosen = all.find(isIdle) ?? all.at(-1)
    chosen?.destroy()
  }

  server.prependListener('connection', (socket: Socket) => {
    const { network } = httpConnectionStateOf(socket)
    const sockets = byNetwork.get(network) ?? new Set()
    byNetwork.set(network, sockets.add(socket))
    count += 1
    socket.once('close', () => forget(network, socket))
    if (count > connectionsMax) closeOne()
  })

  // Node restarts the timer of a socket with every byte received or sent.
  server.setTimeout(STALLED_MS, socket => {
    if (socket.writableLength > 0 || httpConnectionStateOf(socket).isIdle) socket.destroy()
  })

  return {
    closeIdle(): void {
      if (isEnding) return
      isEnding = true
      const since = performance.now()
      const end = () => {
        server.closeIdleConnections()
        // Node does not count connections as idle that never sent a whole request.
        if (performance.now() - since > 1_000)
          for (const sockets of byNetwork.values())
            for (const socket of sockets) if (isIdle(socket)) socket.destroy()
        if (count === 0) clearInterval(timer)
      }
      const timer = setInterval(end, 100).unref()
    }
  }
}
