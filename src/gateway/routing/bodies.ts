import { Readable } from 'node:stream'
import { errorCodes, type FastifyInstance, type FastifyRequest, type RouteOptions } from 'fastify'
import type { BodyKind } from './tiers.ts'

/** For a body that the handler gets as bytes. */
export const BYTES_MAX = 262_144

type Kind = 'json' | 'bytes' | 'stream'
type Streamed = Exclude<BodyKind, string>

export const kindOf = (body: BodyKind = 'json'): Kind => (typeof body === 'string' ? body : 'stream')

/** Whether the handler reads the body by itself: it may take long, and nobody else has seen it before. */
export const isStreamed = (body: BodyKind | undefined): body is Streamed => typeof body === 'object'

/**
 * A scope for each kind of body below `scope`, which reads JSON. Parsers belong to a scope and a media type; here the
 * route decides how its body is read, so that two of one tier may take the same type in their own ways.
 */
export async function openBodyScopes(scope: FastifyInstance): Promise<Record<Kind, FastifyInstance>> {
  const scopes: Partial<Record<Kind, FastifyInstance>> = { json: scope }
  // No body is {}: the schema decides whether a field is missing.
  scope.addHook('preValidation', (request, _reply, done) => {
    if (request.body === undefined && request.routeOptions.schema?.body !== undefined) request.body = {}
    done()
  })
  await scope.register(async bytes => {
    bytes.removeAllContentTypeParsers()
    bytes.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: BYTES_MAX }, (request, body, done) => {
      request.rawBody = body as Buffer
      done(null, body)
    })
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

/** A stream that fails once it is longer than it may be, whatever its sender announced. */
function limitedStream(body: AsyncIterable<Buffer>, bytesMax: number): Readable {
  const stream = Readable.from(limited(body, bytesMax))
  // Whoever reads it learns of a failure. That nobody does just then must not make it one of the whole process.
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

/** What the kind of its body adds to a route: a stream is of its type and nothing else, and is documented as that. */
export function withBody(body: BodyKind | undefined, route: RouteOptions): RouteOptions {
  if (!isStreamed(body)) return route
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
