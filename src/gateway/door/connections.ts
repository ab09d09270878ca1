import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { networkOf } from '../callers/rate-limits.ts'

/** Most clients send one request at a time; who pipelines more than this is not served faster for it. */
const UNANSWERED_MAX = 8
/**
 * An answer of which nothing more was read for so long is given up. It shows late when something was: the kernel asks
 * for more when a third of its buffer is free, some 100 kB, so a reader needs 7 kB a second to be seen as one.
 */
const STALLED_MS = 15_000

/** What is known of one connection. It is kept on its socket. */
export class Connection {
  readonly network: string
  isEnding = false
  #unanswered = 0

  constructor(socket: Socket) {
    this.network = networkOf(socket.remoteAddress ?? '')
  }

  get isIdle(): boolean {
    return this.#unanswered === 0
  }
  /** One more request would be beyond its bounds. */
  get isFull(): boolean {
    return this.#unanswered >= UNANSWERED_MAX
  }

  /** Notes a request that is not answered at once. */
  asked(response: ServerResponse): void {
    this.#unanswered += 1
    response.on('close', this.#answered)
  }
  readonly #answered = () => {
    this.#unanswered -= 1
  }
}

const connectionOfSocket = Symbol('connection')
type Known = Socket & { [connectionOfSocket]?: Connection }

export const connectionOf = (socket: Socket): Connection => {
  const known = socket as Known
  known[connectionOfSocket] ??= new Connection(socket)
  return known[connectionOfSocket]
}

const isIdle = (socket: Socket): boolean => connectionOf(socket).isIdle && socket.writableLength === 0

export type Connections = {
  /** Ends whatever does nothing for anybody, again and again until all are gone. */
  endIdle(): void
}

/**
 * Bounds what connections cost. Whoever does not read an answer is cut; when there are too many connections, the
 * address that has most of them loses its oldest one that does nothing, and otherwise its newest.
 */
export function boundConnections(server: Server, connectionsMax: number): Connections {
  const byNetwork = new Map<string, Set<Socket>>()
  let count = 0
  let isEnding = false

  const forget = (network: string, socket: Socket) => {
    count -= 1
    const sockets = byNetwork.get(network)
    sockets?.delete(socket)
    if (sockets?.size === 0) byNetwork.delete(network)
  }
  const endOne = () => {
    let most: Set<Socket> = new Set()
    for (const sockets of byNetwork.values()) if (sockets.size > most.size) most = sockets
    const all = [...most]
    const loser = all.find(isIdle) ?? all.at(-1)
    loser?.destroy()
  }

  server.prependListener('connection', (socket: Socket) => {
    const { network } = connectionOf(socket)
    const sockets = byNetwork.get(network) ?? new Set()
    byNetwork.set(network, sockets.add(socket))
    count += 1
    socket.once('close', () => forget(network, socket))
    if (count > connectionsMax) endOne()
  })

  // Node's timer of a socket starts anew with every byte that comes or goes, also of an answer that is on its way.
  server.setTimeout(STALLED_MS, socket => {
    if (socket.writableLength > 0 || connectionOf(socket).isIdle) socket.destroy()
  })

  return {
    endIdle(): void {
      if (isEnding) return
      isEnding = true
      const since = performance.now()
      const end = () => {
        server.closeIdleConnections()
        // Connections that never sent anything, or only a part of a request, are not idle to Node.
        if (performance.now() - since > 1_000)
          for (const sockets of byNetwork.values())
            for (const socket of sockets) if (isIdle(socket)) socket.destroy()
        if (count === 0) clearInterval(timer)
      }
      const timer = setInterval(end, 100).unref()
    }
  }
}
