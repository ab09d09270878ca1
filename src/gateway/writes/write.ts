import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { newId } from '../../kernel/ids.ts'
import { type AuditEntry, saveAuditEntry } from '../../platform/audit.ts'
import { markIdempotencyKeyApplied } from '../../platform/idempotency/claims.ts'
import {
  createIdempotentWrite,
  type IdempotentWrite,
  ifMatchNotSupportedError,
  type RunWithoutRequestSlot
} from '../../platform/idempotency/write.ts'
import { malformedIfMatchError } from '../errors.ts'
import { isUnsafeMethod } from '../routing/routes.ts'
import { honoursIdempotencyKey } from './idempotency.ts'

declare module 'fastify' {
  interface FastifyRequest {
    write: IdempotentWrite | null
    /** The id of what the request creates; random without an idempotency key. */
    operationId: string | null
    /** The audit entry of an administrator's request, without its status; `null` for other callers. */
    audit: Omit<AuditEntry, 'id' | 'status'> | null
  }
}

/** The syntax of an ETag (RFC 9110, section 8.8.3). */
const ENTITY_TAG = /^(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"$/
/** An ETag that the shop issues. */
const VERSION_TAG = /^"(0|[1-9]\d{0,14})"$/
/** No row has it. */
const NO_VERSION = -1

/** Returns the id of the object that the request creates. Retries with the same idempotency key get the same id. */
export function requestOperationId(request: FastifyRequest): string {
  request.operationId ??= request.idempotency?.operationId ?? newId()
  return request.operationId
}

/**
 * Returns the write of a request with its conditions: `If-Match` (RFC 9110, section 13.1.1; `*` matches any version) and
 * `Idempotency-Key`. Handlers pass it to the service that writes.
 * @example
 * const write = writeOf(request)
 * await write.once(db, async () => {})
 * assert.equal(writeOf(request).id, write.id)
 */
export function writeOf(request: FastifyRequest): IdempotentWrite {
  request.write ??= newWriteOf(request)
  return request.write
}

/** Returns a function that runs work without holding the request's slot. For handlers without a write. */
export function createRunWithoutRequestSlot(request: FastifyRequest): RunWithoutRequestSlot {
  return async work => {
    const resume = request.slot?.pause()
    try {
      return await work()
    } finally {
      resume?.()
    }
  }
}

function newWriteOf(request: FastifyRequest): IdempotentWrite {
  const { idempotency: claim, audit } = request
  // Guards against a bug in the hooks: without its claim, each retry would execute the write again.
  if (
    claim === null &&
    request.headers['idempotency-key'] !== undefined &&
    honoursIdempotencyKey(request.routeOptions)
  )
    throw new Error('a request with an Idempotency-Key holds no claim, so it must not write')
  const id = requestOperationId(request)
  return createIdempotentWrite({
    id,
    isApplied: claim?.isApplied ?? false,
    resultId: claim?.resultId ?? null,
    expectedVersion: expectedVersion(request.headers['if-match']),
    deadlineAt: Number.isFinite(request.deadlineAt) ? request.deadlineAt : undefined,
    withoutSlot: createRunWithoutRequestSlot(request),
    writeFields: request.fieldWrites ?? undefined,
    mark:
      claim === null && audit === null
        ? undefined
        : async (tx, resultId) => {
            if (claim !== null) claim.isMarked = true
            // Pipelined, so that the second statement costs no round trip.
            await Promise.all([
              claim && markIdempotencyKeyApplied(tx, claim, resultId),
              audit && saveAuditEntry(tx, { ...audit, id, status: null })
            ])
          }
  })
}

function expectedVersion(header: string | undefined): number | null {
  if (header === undefined || header === '*') return null
  const version = VERSION_TAG.exec(header)?.[1]
  if (version !== undefined) return Number(version)
  if (!ENTITY_TAG.test(header)) throw malformedIfMatchError()
  // If-Match compares strongly, so a weak tag never matches (RFC 9110, section 8.8.3.2). Neither does a foreign tag.
  return NO_VERSION
}

/** An `onRoute` hook that rejects `If-Match` on routes with `noReplay`, which do not compare it. */
export function rejectUnusedIfMatch(route: RouteOptions): void {
  if (!isUnsafeMethod(route.method) || route.config?.noReplay === undefined) return
  const refuse = (request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void) =>
    done(expectedVersion(request.headers['if-match']) === null ? undefined : ifMatchNotSupportedError())
  route.preHandler = [refuse, ...[route.preHandler ?? []].flat()]
}
