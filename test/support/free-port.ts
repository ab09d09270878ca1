import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/** Below the ports that connections go out from (32768 and more on Linux, 49152 and more elsewhere): those come and go at any time. */
const FIRST = 10_000
const LAST = 32_767

/** A port without a listener, outside the range from which the system assigns ports. Use it immediately. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST, LAST + 1)
    const server = createServer().listen(port, '127.0.0.1')
    const isFree = await once(server, 'listening').then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EADDRINUSE') return false
        throw error
      }
    )
    server.close()
    if (isFree) return port
  }
}
