import type { IncomingMessage, ServerResponse } from 'node:http'
import { connectionOf } from './connections.ts'

/** Node reads and drops what is left of a body behind its answer. Up to so many announced bytes that is cheap. */
const DROPPED_BYTES_MAX = 65_536
/** How long a client that is still sending has to read its answer. */
const LINGER_MS = 500

/**
 * Ends the connection of a request that is answered before all of its body has arrived: a chunked body may never end, and
 * reading a long one costs more than the answer. The answer says `Connection: close`, so that no client sends its next
 * request on a connection that is about to end. What is left of the body is not read: to destroy the socket immediately
 * would reset it, and a client that is still sending would lose the answer. To be called before the answer has a head.
 */
export function endWithUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers
  if (coding === undefined && Number(length ?? 0) <= DROPPED_BYTES_MAX) return
  const { socket } = request
  response.shouldKeepAlive = false
  connectionOf(socket).isEnding = true
  // Node calls this once the answer has been handed to the socket.
  socket.destroySoon = () => {
    socket.end()
    process.nextTick(() => socket.pause())
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
}
