import type { IncomingMessage, ServerResponse } from 'node:http'
import { httpConnectionStateOf } from './connection-limits.ts'

/** Up to this Content-Length, letting Node read and drop the rest of a request body is cheap. */
const DROPPED_BYTES_MAX = 65_536
/** How long the socket stays open, so that a client that is still sending can read its response. */
const LINGER_MS = 500

/**
 * Closes the connection after a response that is sent before the whole body has arrived. A chunked body may never end, and
 * reading a long one costs more than the response. The response has `Connection: close`, so the client sends no further
 * request. The socket stays open for a moment, because a reset could lose the response. Call it before the headers are
 * sent.
 */
export function closeAfterUnreadBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.complete) return
  const { 'transfer-encoding': coding, 'content-length': length } = request.headers
  if (coding === undefined && Number(length ?? 0) <= DROPPED_BYTES_MAX) return
  const { socket } = request
  response.shouldKeepAlive = false
  httpConnectionStateOf(socket).isEnding = true
  // Node calls this once the response has been written to the socket.
  socket.destroySoon = () => {
    socket.end()
    process.nextTick(() => socket.pause())
    setTimeout(() => socket.destroy(), LINGER_MS).unref()
  }
}
