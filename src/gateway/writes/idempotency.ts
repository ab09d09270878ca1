import { hash } from 'node:crypto'
import type { FastifyContextConfig, FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import type { Claim, KeyClaims } from '../../platform/idempotency/claims.ts'
import { idempotencyKeyInProgress } from '../../platform/idempotency/write.ts'
import { addressOf } from '../callers/rate-limits.ts'
import { guessableIdempotencyKey, idempotencyKeyReused, malformedIdempotencyKey } from '../errors.ts'
import { isStreamed } from '../routing/bodies.ts'
import { isUnsafe } from '../routing/routes.ts'
import type { ModuleHeaders } from '../routing/tiers.ts'
import { openAnswer, sealAnswer } from './kept-answers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The claimed key, from the claim to the answer. */
    idempotency: (Claim & { cipherKey: Buffer }) | null
    /** The body's bytes, kept for the fingerprint of requests with an Idempotency-Key. */
    rawBody: Buffer | null
    /** It failed for a reason that may pass: the same request is judged anew when it comes again. */
    mayPass: boolean
  }
}

const KEY = /^("?)([\x21\x23-\x7e]{1,255})\1$/ // quoted, as the draft has it, or bare, as everybody sends it
const NOT_KEPT = 'answer not kept for its idempotency key'
const REPLAYED = 'idempotency-replayed'
const REPLAYED_HEADERS = ['content-type', 'etag', 'location']
/** In characters. Whoever repeats a request with a longer answer gets it anew: keys are kept for two days, and anybody sends many. */
const KEPT_LENGTH_MAX = 32_768
/** Of callers who share an address: shorter keys, or such as `aaaaaaaaaaaaaaaaaaaa`, are guessed or meet by chance. */
const ANONYMOUS_KEY = { lengthMin: 16, differentMin: 8 }

/**
 * `Idempotency-Key` on every unsafe route (draft-ietf-httpapi-idempotency-key-header-07). The claim is committed
 * before the work; a second try waits a moment for the first and is then answered 409. Kept are answers that the
 * business decided on (2xx and 4xx); after 5xx, 429, malformed requests and failures that may pass the key is free
 * again. Answers are encrypted with a key that only the holder of the idempotency key can derive: what was told once
 * to one caller cannot be read from a table. Where it was a secret, or is long, it is not even kept. `capabilities` are the
 * headers that prove who somebody without an account is: they belong to the identity of the caller. `contexts` choose the
 * terms of an answer: a request with others is another request.
 */
export function honourIdempotencyKeys(claims: KeyClaims, headers: ModuleHeaders) {
  /** Returns whether the handler may run: false when the reply was sent, or is being sent, in its place. */
  const claimOrReplay = async (request: FastifyRequest, reply: FastifyReply): Promise<boolean> => {
    const key = keyOf(request, headers)
    if (key === undefined) return true
    const { cipherKey, ...claimed } = key
    const outcome = await claims.claim(claimed, () => request.visit?.pause() ?? (() => {}))
    if (outcome.kind === 'reused') throw idempotencyKeyReused()
    if (outcome.kind === 'running') throw idempotencyKeyInProgress({ retryAfterSeconds: 1 })
    if (outcome.kind === 'claimed') {
      // Answered at its deadline, its work is over when it is over: only then may another try begin.
      const release = () => {
        claims
          .release(outcome.claim)
          .catch(error => request.log.warn({ req_id: request.id, err: error }, NOT_KEPT))
      }
      if (reply.sent) {
        release()
        return false
      }
      request.onAbandoned = [...(request.onAbandoned ?? []), release]
      request.idempotency = { ...outcome.claim, cipherKey }
      return true
    }
    const answer = openAnswer(outcome.answer, cipherKey)
    reply.code(outcome.status).headers(answer.headers).header(REPLAYED, 'true').send(answer.body)
    return false
  }
  /**
   * A callback instead of a promise, because Fastify runs the handler when the promise of a hook is fulfilled before the
   * reply is sent. A returned `reply` is fulfilled when the client hangs up, even while `onSend` hooks still run.
   */
  const claimKey = (request: FastifyRequest, reply: FastifyReply, done: (error?: Error) => void): void => {
    claimOrReplay(request, reply).then(mayRun => {
      if (mayRun) done()
    }, done)
  }

  const keepAnswer = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const claim = request.idempotency
    if (claim === null) return payload
    request.idempotency = null
    const { statusCode } = reply
    const isDecided = statusCode < 500 && statusCode !== 400 && statusCode !== 429 && !request.mayPass
    const { secret } = request.routeOptions.config
    const isSecret = secret === 'any' ? statusCode < 300 : secret === statusCode
    try {
      if (isDecided && !isSecret && isKeepable(payload)) {
        const headers = Object.fromEntries(REPLAYED_HEADERS.map(name => [name, reply.getHeader(name)]))
        const answer = sealAnswer({ headers, body: payload ?? '' }, claim.cipherKey)
        await claims.finish(claim, statusCode, answer)
      } else {
        await claims.release(claim)
      }
    } catch (error) {
      // The work is done and the caller must learn of it; the key stays claimed until its lease runs out.
      request.log.warn({ req_id: request.id, err: error }, NOT_KEPT)
    }
    return payload
  }

  /** For Fastify's `onRoute`: adds both steps to routes that change something. */
  return (route: RouteOptions): void => {
    if (!honoursIdempotencyKey(route)) return
    route.preHandler = [claimKey, ...[route.preHandler ?? []].flat()]
    route.onSend = [...[route.onSend ?? []].flat(), keepAnswer]
  }
}

/** Whether the reply repeats the stored answer of an earlier request. */
export const isReplay = (reply: FastifyReply): boolean => reply.hasHeader(REPLAYED)

/** Whether `Idempotency-Key` is honoured on the route: not where the handler streams the body, which no fingerprint can cover. */
export const honoursIdempotencyKey = ({ method = [], config }: MountedRoute): boolean =>
  isUnsafe(method) && !isStreamed(config?.body)

type MountedRoute = { method?: string | string[] | undefined; config?: FastifyContextConfig | undefined }

const isKeepable = (payload: unknown): payload is string | null | undefined =>
  payload == null || (typeof payload === 'string' && payload.length <= KEPT_LENGTH_MAX)

/** @throws `MALFORMED_IDEMPOTENCY_KEY`, `GUESSABLE_IDEMPOTENCY_KEY` */
function keyOf(request: FastifyRequest, { capabilities, contexts }: ModuleHeaders) {
  const header = request.headers['idempotency-key']
  if (header === undefined) return undefined
  const key = KEY.exec(String(header))?.[2]
  if (key === undefined) throw malformedIdempotencyKey()
  const caller = callerOf(request, capabilities)
  if (caller === undefined && isGuessable(key)) throw guessableIdempotencyKey()
  const { method, routeOptions } = request
  const scope = JSON.stringify([caller ?? `address:${addressOf(request)}`, method, routeOptions.url, key])
  return {
    keyHash: hash('sha256', `key:${scope}`, 'buffer'),
    cipherKey: hash('sha256', `answer:${scope}`, 'buffer'),
    fingerprint: fingerprintOf(request, contexts)
  }
}

const isGuessable = (key: string): boolean =>
  key.length < ANONYMOUS_KEY.lengthMin || new Set(key).size < ANONYMOUS_KEY.differentMin || /^\d+$/.test(key) // the time, as likely as not

/** `undefined` for callers that nothing but their address tells from others. */
function callerOf(request: FastifyRequest, headers: readonly string[]): string | undefined {
  if (request.identity !== null) return `user:${request.identity.userId}`
  const capabilities = headers.map(name => request.headers[name] ?? '')
  return capabilities.every(value => value === '')
    ? undefined
    : `capabilities:${JSON.stringify(capabilities)}`
}

function fingerprintOf(request: FastifyRequest, contexts: readonly string[]): Buffer {
  const ifMatch = request.headers['if-match'] ?? ''
  const terms = contexts.map(name => request.headers[name] ?? '')
  const body = request.rawBody?.toString('base64') ?? ''
  return hash('sha256', JSON.stringify([request.url, ifMatch, terms, body]), 'buffer')
}
