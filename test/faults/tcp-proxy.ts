import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type NetConnectOpts, type Socket } from 'node:net'

/** Stands between the program and a server, and does what networks do. */
export type TcpProxy = {
  readonly port: number
  /** Resets all connections and refuses new ones, like a server that is stopped. */
  cut(): Promise<void>
  /** Resets all connections; new ones are welcome. */
  reset(): void
  /** Swallows everything in both directions and says nothing, like a firewall or a machine that froze. */
  hang(): void
  /** Present connections are never heard of again, while new ones work, like a failover to another machine. */
  strand(): void
  /** Ends `cut` and `hang`; what was held back arrives. */
  restore(): Promise<void>
  /** Replaces a text by one of the same length, in what the program sends and in what it is sent. */
  tamper(from: string, to: string): void
  close(): Promise<void>
}

/** A proxy in front of `target`, on a free port of 127.0.0.1. */
export async function openTcpProxy(target: NetConnectOpts): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let held: (() => void)[] | undefined
  let change = (chunk: Buffer) => chunk
  let connections = 0
  let stranded = 0
  const relay = (connection: number, step: () => void) => {
    if (connection <= stranded) return
    if (held === undefined) step()
    else held.push(step)
  }

  const server = createServer(near => {
    const far = connect(target)
    connections += 1
    const connection = connections
    const join = (from: Socket, to: Socket) => {
      sockets.add(from)
      from.on('data', chunk => relay(connection, () => to.write(change(chunk as Buffer))))
      from.on('error', () => {})
      from.on('close', () => {
        sockets.delete(from)
        relay(connection, () => to.destroy())
      })
    }
    join(near, far)
    join(far, near)
  })
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const reset = () => {
    // Sockets in the file system know no reset.
    for (const socket of sockets) {
      if (socket.remotePort === undefined) socket.destroy()
      else socket.resetAndDestroy()
    }
  }
  const cut = async () => {
    held = undefined
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    reset()
    await closed
  }
  await listen(0)
  const { port } = server.address() as AddressInfo

  return {
    port,
    cut,
    reset,
    hang: () => {
      held ??= []
    },
    strand: () => {
      stranded = connections
    },
    restore: async () => {
      const steps = held ?? []
      held = undefined
      for (const step of steps) step()
      if (!server.listening) await listen(port)
    },
    tamper: (from, to) => {
      change = chunk =>
        from === '' ? chunk : Buffer.from(chunk.toString('latin1').replaceAll(from, to), 'latin1')
    },
    close: cut
  }
}
