import { hash } from 'node:crypto'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { IdempotencyKeyClaim, IdempotencyKeyClaims } from '../../platform/idempotency/claims.ts'
import { idempotencyKeyInProgressError } from '../../platform/idempotency/write.ts'
import { callerAddress } from '../callers/rate-limits.ts'
import {
  guessableIdempotencyKeyError,
  idempotencyKeyReusedError,
  malformedIdempotencyKeyError
} from '../errors.ts'
import { isStreamedBody } from '../routing/body-kinds.ts'
import { isUnsafeMethod } from '../routing/routes.ts'
import type { ModuleRequestHeaders } from '../routing/tiers.ts'
import { decryptStoredResponse, encryptStoredResponse } from './stored-responses.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The idempotency key that this request has claimed, until its response is stored. */
    /** `isMarked`: a transaction of this request recorded that the request is done. */
    idempotency: (IdempotencyKeyClaim & { cipherKey: Buffer; isMarked: boolean }) | null
    /** The bytes of the request body, for the fingerprint of requests with an Idempotency-Key. */
    rawBody: Buffer | null
    /** The request failed for a temporary reason, so a retry runs the handler again. */
    mayPass: boolean
  }
}

const KEY = /^("?)([\x21\x23-\x7e]{1,255})\1$/ // quoted, as in the draft, or bare, as clients send it
const NOT_STORED = 'response not stored for its idempotency key'
const REPLAYED = 'idempotency-replayed'
const REPLAYED_HEADERS = ['content-type', 'etag', 'location']
/**
 * Longest stored response, in characters. Longer ones are computed again on a retry, because keys are kept for two days
 * and clients may send many.
 */
const STORED_LENGTH_MAX = 32_768
/** Keys of anonymous callers must be hard to guess, because callers with the same address share their keys. */
const ANONYMOUS_KEY = { lengthMin: 16, differentMin: 8 }

/**
 * Implements `Idempotency-Key` on unsafe routes (draft-ietf-httpapi-idempotency-key-header-07). The claim commits before
 * the work. A concurrent retry waits briefly, then gets 409. Responses with 2xx and 4xx are stored; after 5xx, 429, 400 and
 * temporary failures the key is released. Responses are encrypted with a key that is derived from the idempotency key, so
 * the table does not reveal them. Secret and long responses are not stored. `credentialHeaders`
 * identify a caller without an account. `varyHeaders` choose the terms of a response, so a request with other terms is
 * another request.
 */
export function honourIdempotencyKeys(claims: IdempotencyKeyClaims, headers: ModuleRequestHeaders) {
  /** Returns whether the handler may run: false if a stored response is sent, or one was sent before. */
  const claimOrReplay = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const key = keyOf(request, headers)
    if (key === undefined) return true
    const { cipherKey, ...claimed } = key
    const outcome = await claims.claim(claimed, () => request.slot?.pause() ?? (() => {}))
    if (outcome.kind === 'reused') throw idempotencyKeyReusedError()
    if (outcome.kind === 'running') throw idempotencyKeyInProgressError({ retryAfterSeconds: 1 })
    if (outcome.kind === 'claimed') {
      // After a 503 at the deadline the handler still runs. The key is released when it ends, for the next try.
      const release = () => {
        claims
          .release(outcome.claim)
          .catch(error => request.log.warn({ req_id: request.id, err: error }, NOT_STORED))
      }
      if (reply.sent) {
        release()
        return false
      }
      request.onAbandoned = [...(request.onAbandoned ?? []), release]
      request.idempotency = { ...outcome.claim, cipherKey, isMarked: false }
      return true
    }
    const answer = decryptStoredResponse(outcome.answer, cipherKey)
    reply.code(outcome.status).headers(answer.headers).header(REPLAYED, 'true').send(answer.body)
    return false
  }
  /**
   * Takes a callback instead of returning a promise. Fastify runs the handler if the promise of a hook resolves before the
   * reply is sent. A returned `reply` resolves when the client disconnects, even while `onSend` hooks run.
   */
  const claimKey = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    claimOrReplay(request, reply).then(mayRun => {
      if (mayRun) done()
    }, done)
  }

  const storeResponse = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const claim = request.idempotency
    if (claim === null) return payload
    request.idempotency = null
    const { statusCode } = reply
    const isDecided = statusCode < 500 && statusCode !== 400 && statusCode !== 429 && !request.mayPass
    const { secret } = request.routeOptions.config
    const isSecret = secret === 'any' ? statusCode < 300 : secret === statusCode
    try {
      if (isDecided && !isSecret && isStorable(payload)) {
        const headers = Object.fromEntries(REPLAYED_HEADERS.map(name => [name, reply.getHeader(name)]))
        const answer = encryptStoredResponse({ headers, body: payload ?? '' }, claim.cipherKey)
        await claims.finish(claim, statusCode, answer)
      } else if (statusCode < 300 && (claim.isMarked || claim.isApplied)) {
        claims.forget(claim)
      } else {
        await claims.release(claim)
      }
    } catch (error) {
      // The write is done, so the caller gets the response. The key stays claimed until its lease expires.
      request.log.warn({ req_id: request.id, err: error }, NOT_STORED)
    }
    return payload
  }

  /** An `onRoute` hook that adds both hooks to unsafe routes. */
  return (route: RouteOptions): void => {
    if (!honoursIdempotencyKey(route)) return
    route.preHandler = [claimKey, ...[route.preHandler ?? []].flat()]
    route.onSend = [...[route.onSend ?? []].flat(), storeResponse]
  }
}

/** Whether the reply is a stored response of an earlier request. */
export const isReplayedResponse = (reply: FastifyReply): boolean => reply.hasHeader(REPLAYED)

/** Whether the route honours `Idempotency-Key`. Streamed bodies have no fingerprint, so their routes do not. */
export const honoursIdempotencyKey = ({ method = [], config }: KeyableRoute): boolean =>
  isUnsafeMethod(method) && !isStreamedBody(config?.body)

type KeyableRoute = { method?: string | string[] | undefined; config?: FastifyContextConfig | undefined }

const isStorable = (payload: unknown): payload is string | null | undefined =>
  payload == null || (typeof payload === 'string' && payload.length <= STORED_LENGTH_MAX)

/** @throws `MALFORMED_IDEMPOTENCY_KEY`, `GUESSABLE_IDEMPOTENCY_KEY` */
function keyOf(request: FastifyRequest, { credentialHeaders, varyHeaders }: ModuleRequestHeaders) {
  const header = request.headers['idempotency-key']
  if (header === undefined) return undefined
  const key = KEY.exec(String(header))?.[2]
  if (key === undefined) throw malformedIdempotencyKeyError()
  const caller = callerOf(request, credentialHeaders)
  if (caller === undefined && isGuessable(key)) throw guessableIdempotencyKeyError()
  const { method, routeOptions } = request
  const scope = JSON.stringify([caller ?? `address:${callerAddress(request)}`, method, routeOptions.url, key])
  return {
    keyHash: hash('sha256', `key:${scope}`, 'buffer'),
    cipherKey: hash('sha256', `answer:${scope}`, 'buffer'),
    fingerprint: fingerprintOf(request, varyHeaders)
  }
}

const isGuessable = (key: string): boolean =>
  key.length < ANONYMOUS_KEY.lengthMin || new Set(key).size < ANONYMOUS_KEY.differentMin || /^\d+$/.test(key) // probably a timestamp

/** Identifies the caller by account or credential headers; `undefined` if only the address is known. */
function callerOf(request: FastifyRequest, credentialHeaders: readonly string[]): string | undefined {
  if (request.identity !== null) return `user:${request.identity.userId}`
  const credentials = credentialHeaders.map(name => request.headers[name] ?? '')
  // A stored word: the hash of a stored key contains it.
  return credentials.every(value => value === '') ? undefined : `capabilities:${JSON.stringify(credentials)}`
}

function fingerprintOf(request: FastifyRequest, varyHeaders: readonly string[]): Buffer {
  const ifMatch = request.headers['if-match'] ?? ''
  const terms = varyHeaders.map(name => request.headers[name] ?? '')
  const body = request.rawBody?.toString('base64') ?? ''
  return hash('sha256', JSON.stringify([request.url, ifMatch, terms, body]), 'buffer')
}
