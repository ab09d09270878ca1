import { Socket } from 'node:net'

const RECEIVED_BYTES_MAX = 65_536
/** What a socket has received. All share it, because it is copied before another receives. */
const received = Buffer.allocUnsafeSlow(RECEIVED_BYTES_MAX)

/**
 * Creates the socket of a pooled connection, for the option `stream` of `pg`. Node itself allocates 64 kB for each read and gives
 * back most of it: 2.1 us of 12.9 for a statement and its result (2026-11). COPY, which reads the socket itself, needs a connection
 * outside of the pools. An encrypted connection gets Node's own socket, because TLS reads from it directly.
 */
export function createDatabaseSocket({ ssl }: { ssl?: unknown } = {}): Socket {
  if (ssl) return new Socket()
  const socket: Socket = new Socket({
    onread: {
      buffer: received,
      callback: length => {
        // A message may be incomplete, and `pg` then keeps the bytes until the rest arrives.
        socket.emit('data', Buffer.from(received.subarray(0, length)))
        return true
      }
    }
  })
  return socket
}
