import { once } from 'node:events'
import { createServer, type NetConnectOpts } from 'node:net'
import { freePort } from '../support/free-port.ts'
import { type Direction, type Flow, ProxiedConnection, type Watch } from './proxied-connection.ts'

const BOTH: readonly Direction[] = ['to_server', 'to_program']

/** A proxy between the program and a server that simulates network faults. */
export type TcpProxy = {
  readonly port: number
  /** Resets all connections and refuses new ones, like a server that is stopped. */
  cut(): Promise<void>
  /** Resets all connections and accepts new ones. */
  reset(): void
  /** Holds everything back, in both directions or one, and says nothing: a firewall, or a machine that froze. */
  hang(direction?: Direction): void
  /** Nothing passes over present connections any more, while new ones work, like a failover to another machine. */
  strand(direction?: Direction): void
  /** New connections are accepted and never answered, present ones work. */
  hangNew(): void
  /** Ends all connections in one direction; the peer decides on the other one. */
  halfClose(direction: Direction): void
  /** Delays all data in this direction. */
  slow(direction: Direction, milliseconds: number): void
  /** Ends `cut`, `hang`, `hangNew` and `slow`; what was held back arrives. */
  restore(): Promise<void>
  /** Connections that were lost are reset: program and server learn of it, as a keep-alive would find some day. */
  sweep(): void
  /** Replaces a text by one of the same length, in what the program sends and in what it is sent. */
  tamper(from: string, to: string): void
  close(): Promise<void>
}

/** A proxy in front of `target`, on a free port of 127.0.0.1. `watch` sees every chunk, and decides how it is treated. */
export async function openTcpProxy(target: NetConnectOpts, watch: Watch = () => 'pass'): Promise<TcpProxy> {
  const connections = new Set<ProxiedConnection>()
  const flows: Record<Direction, Flow> = {
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
  const flow = (more: Partial<Flow>, directions = BOTH) => {
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
  // Not just any: it is listened on again after a cut, and must be free then.
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
