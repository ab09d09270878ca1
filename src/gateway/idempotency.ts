import { createCipheriv, createDecipheriv, hash, randomBytes, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import * as keys from '../platform/idempotency-keys.ts'
import type { Database } from '../platform/postgres.ts'
import { idempotencyKeyInProgress, idempotencyKeyReused, malformedIdempotencyKey } from './errors.ts'

/** A claimed key, on its request from the claim to the answer. */
type IdempotentRequest = keys.Claim & { cipherKey: Buffer; applied: boolean }

declare module 'fastify' {
  interface FastifyRequest {
    idempotency: IdempotentRequest | null
    /** The body's bytes, kept for the fingerprint of requests with an Idempotency-Key. */
    rawBody: Buffer | null
  }
}

const LEASE_SECONDS = 30
const KEY = /^("?)([\x21\x23-\x7e]{1,255})\1$/ // quoted, as the draft has it, or bare, as everybody sends it
const UNSAFE_METHODS = new Set(['POST', 'PUT', 'PATCH', 'DELETE'])
// A header that proves who somebody without an account is. They belong to the identity of the caller.
const CAPABILITY_HEADERS = ['x-guest-cart-token', 'x-order-token']
const REPLAYED_HEADERS = ['content-type', 'etag', 'location']

/**
 * `Idempotency-Key` on every unsafe route (draft-ietf-httpapi-idempotency-key-header-07). The claim is committed
 * before the work, so a second caller gets 409 instead of waiting. Kept are answers that the business decided on
 * (2xx and 4xx); after 5xx, 429 and malformed requests the key is free again. Answers are encrypted with a key that
 * only the holder of the idempotency key can derive: what was told once to one caller cannot be read from a table.
 */
export function honourIdempotencyKeys(db: Database) {
  const claimKey = async (request: FastifyRequest, reply: FastifyReply) => {
    const header = request.headers['idempotency-key']
    if (header === undefined) return
    const match = KEY.exec(String(header))
    if (match === null) throw malformedIdempotencyKey()

    const scope = JSON.stringify([callerOf(request), request.method, request.routeOptions.url, match[2]])
    const keyHash = hash('sha256', `key:${scope}`, 'buffer')
    const cipherKey = hash('sha256', `answer:${scope}`, 'buffer')
    const fingerprint = fingerprintOf(request)
    const lease = randomUUID()

    const claimed = await keys.claim(db, { keyHash, fingerprint, lease, leaseSeconds: LEASE_SECONDS })
    if (claimed !== undefined) {
      request.idempotency = { keyHash, lease, cipherKey, applied: claimed.applied }
      return
    }
    const stored = await keys.find(db, keyHash)
    if (stored === undefined) throw idempotencyKeyInProgress({ retryAfterSeconds: 1 })
    if (!stored.fingerprint.equals(fingerprint)) throw idempotencyKeyReused()
    if (stored.status === null || stored.answer === null)
      throw idempotencyKeyInProgress({ retryAfterSeconds: 1 })

    const answer = JSON.parse(decrypt(stored.answer, cipherKey)) as {
      headers: Record<string, string>
      body: string
    }
    return reply
      .code(stored.status)
      .headers(answer.headers)
      .header('idempotency-replayed', 'true')
      .send(answer.body)
  }

  const keepAnswer = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const claimed = request.idempotency
    if (claimed === null) return payload
    request.idempotency = null
    const decided = reply.statusCode < 500 && reply.statusCode !== 400 && reply.statusCode !== 429
    try {
      if (decided && (typeof payload === 'string' || payload == null)) {
        const headers = Object.fromEntries(REPLAYED_HEADERS.map(name => [name, reply.getHeader(name)]))
        const answer = encrypt(JSON.stringify({ headers, body: payload ?? '' }), claimed.cipherKey)
        await keys.finish(db, claimed, reply.statusCode, answer)
      } else {
        await keys.release(db, claimed)
      }
    } catch (error) {
      // The work is done and the caller must learn of it; the key stays claimed until its lease runs out.
      request.log.warn({ req_id: request.id, err: error }, 'answer not kept for its idempotency key')
    }
    return payload
  }

  /** For Fastify's `onRoute`: adds both steps to routes that change something. */
  return (route: RouteOptions): void => {
    const methods = [route.method].flat()
    if (!methods.some(method => UNSAFE_METHODS.has(method)) || route.config?.streamsBody === true) return
    route.preHandler = [claimKey, ...[route.preHandler ?? []].flat()]
    route.onSend = [...[route.onSend ?? []].flat(), keepAnswer]
  }
}

function callerOf(request: FastifyRequest): string {
  if (request.identity !== null) return `user:${request.identity.userId}`
  const capabilities = CAPABILITY_HEADERS.map(name => request.headers[name] ?? '')
  return capabilities.every(value => value === '')
    ? `address:${request.ip}`
    : `capabilities:${JSON.stringify(capabilities)}`
}

function fingerprintOf(request: FastifyRequest): Buffer {
  const ifMatch = request.headers['if-match'] ?? ''
  const body = request.rawBody?.toString('base64') ?? ''
  return hash('sha256', JSON.stringify([request.url, ifMatch, body]), 'buffer')
}

const IV_BYTES = 12
const TAG_BYTES = 16

function encrypt(text: string, key: Buffer): Buffer {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed])
}

function decrypt(sealed: Buffer, key: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, IV_BYTES))
  decipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return decipher.update(sealed.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
