import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { newId } from '../../kernel/ids.ts'
import { type AuditEntry, noteAudit } from '../../platform/audit.ts'
import { markApplied } from '../../platform/idempotency/claims.ts'
import {
  conditionNotSupported,
  createWrite,
  type WithoutSlot,
  type Write
} from '../../platform/idempotency/write.ts'
import { malformedIfMatch } from '../errors.ts'
import { isUnsafe } from '../routing/routes.ts'
import { honoursIdempotencyKey } from './idempotency.ts'

declare module 'fastify' {
  interface FastifyRequest {
    write: Write | null
    /** Drawn when the request has no idempotency key. */
    operationId: string | null
    /** What an administrator's request is written down as; `null` for requests of others. */
    audit: Omit<AuditEntry, 'id' | 'status'> | null
  }
}

/** An ETag as RFC 9110, section 8.8.3, writes it. */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/
/** One that the shop gives. */
const VERSION_TAG = /^"(0|[1-9]\d{0,14})"$/
/** No row has it. */
const NO_VERSION = -1

/** The id of what this request makes: the same in each of its tries, when it has an idempotency key. */
export function operationIdOf(request: FastifyRequest): string {
  request.operationId ??= request.idempotency?.operationId ?? newId()
  return request.operationId
}

/**
 * The write that a request asks for, with its conditions: `If-Match` (RFC 9110, section 13.1.1; `*` is any version)
 * and `Idempotency-Key`. Handlers hand it on to whoever writes.
 */
export function writeOf(request: FastifyRequest): Write {
  request.write ??= newWriteOf(request)
  return request.write
}

/** For handlers that have no write. */
export function withoutSlotOf(request: FastifyRequest): WithoutSlot {
  return async work => {
    const resume = request.visit?.pause()
    try {
      return await work()
    } finally {
      resume?.()
    }
  }
}

function newWriteOf(request: FastifyRequest): Write {
  const { idempotency: claim, audit } = request
  // A bug elsewhere let the handler run. Without its claim the write would be executed again by each retry.
  if (
    claim === null &&
    request.headers['idempotency-key'] !== undefined &&
    honoursIdempotencyKey(request.routeOptions)
  )
    throw new Error('a request with an Idempotency-Key holds no claim, so it must not write')
  const id = operationIdOf(request)
  return createWrite({
    id,
    isApplied: claim?.isApplied ?? false,
    resultId: claim?.resultId ?? null,
    expectedVersion: expectedVersion(request.headers['if-match']),
    deadlineAt: Number.isFinite(request.deadlineAt) ? request.deadlineAt : undefined,
    withoutSlot: withoutSlotOf(request),
    mark:
      claim === null && audit === null
        ? undefined
        : async (tx, resultId) => {
            // Sent together, so that the second costs no round trip.
            await Promise.all([
              claim && markApplied(tx, claim, resultId),
              audit && noteAudit(tx, { ...audit, id, status: null })
            ])
          }
  })
}

function expectedVersion(header: string | undefined): number | null {
  if (header === undefined || header === '*') return null
  const version = VERSION_TAG.exec(header)?.[1]
  if (version !== undefined) return Number(version)
  if (!ENTITY_TAG.test(header)) throw malformedIfMatch()
  // If-Match compares strongly, so a weak tag never matches (RFC 9110, section 8.8.3.2), nor does a tag of another server.
  return NO_VERSION
}

/** For Fastify's `onRoute`: where no write could compare it, `If-Match` is refused before anything is done. */
export function refuseUnreadConditions(route: RouteOptions): void {
  if (!isUnsafe(route.method) || route.config?.unwritten === undefined) return
  const refuse = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) =>
    done(expectedVersion(request.headers['if-match']) === null ? undefined : conditionNotSupported())
  route.preHandler = [refuse, ...[route.preHandler ?? []].flat()]
}
