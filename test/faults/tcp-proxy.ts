import { once } from 'node:events'
import { createServer, type NetConnectOpts } from 'node:net'
import { freePort } from '../support/free-port.ts'
import {
  type ChunkWatch,
  type Direction,
  type DirectionFlow,
  ProxiedConnection
} from './proxied-connection.ts'

const BOTH: readonly Direction[] = ['to_server', 'to_program']

/** A proxy between the program and a server that simulates network faults. */
export type TcpProxy = {
  readonly port: number
  /** Resets all connections and refuses new ones, like a server that is stopped. */
  cut(): Promise<void>
  /** Resets all connections and accepts new ones. */
  reset(): void
  /** Holds all data back, in both directions or one, like a firewall or a frozen machine. */
  hang(direction?: Direction): void
  /** Existing connections forward nothing more, and new ones work, like a failover to another machine. */
  strand(direction?: Direction): void
  /** New connections are accepted and get no data; existing ones work. */
  hangNew(): void
  /** Ends all connections in one direction; the peer decides on the other one. */
  halfClose(direction: Direction): void
  /** Delays all data in this direction. */
  slow(direction: Direction, milliseconds: number): void
  /** Ends `cut`, `hang`, `hangNew` and `slow`, and forwards the held data. */
  restore(): Promise<void>
  /** Resets lost connections, so that program and server detect the loss earlier than by a keep-alive. */
  sweep(): void
  /** Replaces a text by one of the same length, in both directions. */
  tamper(from: string, to: string): void
  close(): Promise<void>
}

/** A proxy in front of `target`, on a free port of 127.0.0.1. `watch` receives every chunk and decides its outcome. */
export async function openTcpProxy(
  target: NetConnectOpts,
  watch: ChunkWatch = () => 'pass'
): Promise<TcpProxy> {
  const connections = new Set<ProxiedConnection>()
  const flows: Record<Direction, DirectionFlow> = {
    to_server: { isHeld: false, delayMs: 0 },
    to_program: { isHeld: false, delayMs: 0 }
  }
  let change = (chunk: Buffer) => chunk
  let hangsNew = false

  const server = createServer({ allowHalfOpen: true }, near => {
    const connection = new ProxiedConnection(near, target, {
      flows,
      isHeld: hangsNew,
      change: chunk => change(chunk),
      watch,
      closed: () => connections.delete(connection)
    })
    connections.add(connection)
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const flow = (more: Partial<DirectionFlow>, directions = BOTH) => {
    for (const direction of directions) Object.assign(flows[direction], more)
  }
  const reset = () => {
    for (const connection of connections) connection.reset()
  }
  const cut = async () => {
    flow({ isHeld: false })
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    reset()
    await closed
  }
  // A fixed port, because the proxy listens on it again after a cut.
  const port = await freePort()
  await listen(port)

  return {
    port,
    cut,
    reset,
    hang: direction => flow({ isHeld: true }, direction && [direction]),
    strand: direction => {
      for (const connection of connections) connection.lose(direction)
    },
    hangNew: () => {
      hangsNew = true
    },
    halfClose: direction => {
      for (const connection of connections) connection.halfClose(direction)
    },
    slow: (direction, delayMs) => flow({ delayMs }, [direction]),
    restore: async () => {
      flow({ isHeld: false, delayMs: 0 })
      hangsNew = false
      for (const connection of connections) connection.deliver()
      if (!server.listening) await listen(port)
    },
    sweep: () => {
      for (const connection of connections) connection.sweep()
    },
    tamper: (from, to) => {
      change = chunk =>
        from === '' ? chunk : Buffer.from(chunk.toString('latin1').replaceAll(from, to), 'latin1')
    },
    close: cut
  }
}
