import { hash } from 'node:crypto'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createLru } from '../../kernel/lru.ts'
import { acceptsGzip, isNamed } from './negotiation.ts'

const compress = promisify(gzip)

/** What is shorter gains little: it goes out in one or two packets anyway. */
const COMPRESSED_LENGTH_MIN = 2_048
/** A list of 100 products takes 0.6 ms, on another thread. When so many are under way, others are sent as they are. */
const COMPRESSING_MAX = 4
const TEXTS_MAX = 5_000
const LENGTHS_MAX = 33_554_432

/** What was made of a text: its entity tags, and its compressed form once somebody has asked for it. */
type Made = { tag: string; gzipTag: string; gzipped: Buffer | Promise<Buffer> | undefined }
type Done = (error: Error | null, payload?: unknown) => void

/**
 * A hook for answers that everybody gets alike. It gives them an entity tag, answers 304 to whoever has them already,
 * and compresses long ones. An entity tag is the hash of the text, so it changes with whatever the answer shows, and
 * with nothing else; being a strong one, it is another for the compressed form (RFC 9110, 8.8.3.3).
 *
 * All of it is made once for each text and then found by the text: pages are cached, and the same string costs 0.1 us to
 * find (2026-11), where hashing 20 products takes 5 us and compressing them 60.
 *
 * Only these answers are compressed. One that held something secret beside something that an attacker may choose would
 * tell the secret by its length (BREACH).
 */
export function createPublicAnswers() {
  const known = createLru<Made>({
    entriesMax: TEXTS_MAX,
    sizeMax: LENGTHS_MAX,
    sizeOf: (_made, text) => text.length + 1
  })
  let compressing = 0

  function madeOf(text: string): Made {
    const before = known.get(text)
    if (before !== undefined) return before
    const digest = hash('sha256', text, 'base64url').slice(0, 22)
    const made: Made = { tag: `"${digest}"`, gzipTag: `"${digest}-gzip"`, gzipped: undefined }
    known.set(text, made)
    return made
  }

  async function compressOnce(text: string, made: Made): Promise<Buffer> {
    compressing += 1
    try {
      made.gzipped = await compress(text)
      return made.gzipped
    } catch (error) {
      made.gzipped = undefined
      throw error
    } finally {
      compressing -= 1
    }
  }

  const maySendGzipped = (text: string, made: Made, acceptEncoding: string | undefined): boolean =>
    text.length >= COMPRESSED_LENGTH_MIN &&
    acceptsGzip(acceptEncoding) &&
    (made.gzipped !== undefined || compressing < COMPRESSING_MAX)

  return (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
    if (reply.statusCode !== 200 || typeof payload !== 'string') return done(null, payload)
    const { headers } = request
    const made = madeOf(payload)
    const isGzipped = maySendGzipped(payload, made, headers['accept-encoding'])
    const tag = isGzipped ? made.gzipTag : made.tag
    reply.header('etag', tag)
    const condition = headers['if-none-match']
    if (condition !== undefined && isNamed(condition, tag)) {
      reply.code(304).removeHeader('content-type')
      // HEAD goes on: its Content-Length is that of the answer that is not sent.
      if (request.method !== 'HEAD') return done(null, null)
    }
    if (!isGzipped) return done(null, payload)
    reply.header('content-encoding', 'gzip')
    made.gzipped ??= compressOnce(payload, made)
    if (made.gzipped instanceof Promise) made.gzipped.then(bytes => done(null, bytes), done)
    else done(null, made.gzipped)
  }
}
