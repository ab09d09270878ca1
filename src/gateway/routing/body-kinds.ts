import { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyRequest, type RouteOptions } from 'fastify'
import type { BodyKind } from './tiers.ts'

/** Limit of a body that the handler receives as bytes. */
export const RAW_BODY_BYTES_MAX = 262_144

type Kind = 'json' | 'bytes' | 'stream'
type Streamed = Exclude<BodyKind, string>

export const bodyKindName = (body: BodyKind = 'json'): Kind => (typeof body === 'string' ? body : 'stream')

/** Whether the handler reads the body as a stream: it may be long, and no hook reads it before. */
export const isStreamedBody = (body: BodyKind | undefined): body is Streamed => typeof body === 'object'

/**
 * Opens a scope for each kind of body below `scope`, which parses JSON. Fastify binds parsers to a scope and a media type.
 * With a scope for each kind, the route decides how its body is read.
 */
export async function createBodyKindScopes(scope: FastifyInstance): Promise<Record<Kind, FastifyInstance>> {
  const scopes: Partial<Record<Kind, FastifyInstance>> = { json: scope }
  // A missing body is validated as {}, so that the error names the missing field.
  scope.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined && request.routeOptions.schema?.body !== undefined) request.body = {}
    done()
  })
  await scope.register(async bytes => {
    bytes.removeAllContentTypeParsers()
    bytes.addContentTypeParser(
      '*',
      { parseAs: 'buffer', bodyLimit: RAW_BODY_BYTES_MAX },
      (request, body, done) => {
        request.rawBody = body as Buffer
        done(null, body)
      }
    )
    bytes.addHook('preValidation', (request, _reply, done) => {
      request.body ??= Buffer.alloc(0)
      done()
    })
    scopes.bytes = bytes
  })
  await scope.register(async stream => {
    stream.removeAllContentTypeParsers()
    stream.addContentTypeParser('*', (request, body, done) => {
      const { bytesMax } = request.routeOptions.config.body as Streamed
      if (Number(request.headers['content-length']) > bytesMax)
        done(new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE())
      else done(null, limitedStream(body, bytesMax))
    })
    stream.addHook('preValidation', (request, _reply, done) => {
      request.body ??= Readable.from([])
      done()
    })
    scopes.stream = stream
  })
  return scopes as Record<Kind, FastifyInstance>
}

/** Returns a stream that fails once it exceeds the limit, whatever length the client announced. */
function limitedStream(body: AsyncIterable<Buffer>, bytesMax: number): Readable {
  const stream = Readable.from(limited(body, bytesMax))
  // The reader gets the error. Without this listener, an error between two reads would be an uncaught error.
  return stream.on('error', () => {})
}

async function* limited(chunks: AsyncIterable<Buffer>, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > bytesMax) throw new errorCodes.FST_ERR_CTP_BODY_TOO_LARGE()
    yield chunk
  }
}

/** Adds the check and the documentation of the media type to a route whose body is a stream. */
export function withStreamedBody(body: BodyKind | undefined, route: RouteOptions): RouteOptions {
  if (!isStreamedBody(body)) return route
  const requireType = (request: FastifyRequest, _reply: unknown, done: (error?: Error) => void) => {
    const given = request.headers['content-type'] ?? ''
    const [type = ''] = given.split(';')
    done(
      type.trim().toLowerCase() === body.stream
        ? undefined
        : new errorCodes.FST_ERR_CTP_INVALID_MEDIA_TYPE(given)
    )
  }
  return {
    ...route,
    schema: { ...route.schema, consumes: [body.stream] },
    onRequest: [requireType, ...[route.onRequest ?? []].flat()]
  }
}

/** Whether the request has a body that must arrive before its handler runs. */
export function awaitsBody(request: FastifyRequest): boolean {
  const { method, headers } = request
  if (method === 'GET' || method === 'HEAD' || isStreamedBody(request.routeOptions.config.body)) return false
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** Drops the rest of a body that has not arrived completely. Returns whether there is one. */
export function dropUnreadBody({ raw }: FastifyRequest): boolean {
  if (raw.complete) return false
  for (const event of ['data', 'end', 'error']) raw.removeAllListeners(event)
  raw.on('error', () => {}).resume()
  return true
}
