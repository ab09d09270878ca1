import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { saveAuditEntry } from '../../platform/audit.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { identityOf } from '../callers/identity.ts'
import { isUnsafeMethod } from '../routing/routes.ts'
import { isReplayedResponse } from './idempotency.ts'
import { requestOperationId } from './write.ts'

const NOT_RECORDED = 'the status of an administrator request was not recorded'
const ABANDONED = 503

/**
 * Returns an `onRoute` hook for the admin tier that records every unsafe request: administrator, route, ids and status. The
 * entry commits with the change (see `writeOf`), or before it on routes with `noReplay`. The status, and requests that
 * changed nothing, are recorded before the response is sent.
 */
export function auditUnsafeRequests(db: Queryable) {
  const record = async (request: FastifyRequest, status: number): Promise<void> => {
    if (request.audit === null) return
    const entry = { ...request.audit, id: requestOperationId(request), status }
    await saveAuditEntry(db, entry).catch((error: unknown) => {
      // The caller still gets the response. The change itself was recorded when it committed.
      request.log.warn({ req_id: request.id, err: error }, NOT_RECORDED)
    })
  }
  const begin = (request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
    request.audit = {
      actor: identityOf(request).userId,
      method: request.method,
      route: request.routeOptions.url ?? '',
      params: request.params as Record<string, unknown>,
      requestId: request.id
    }
    // After its deadline the request got 503, and `onSend` does not run when the handler ends.
    request.onAbandoned = [...(request.onAbandoned ?? []), () => void record(request, ABANDONED)]
    done()
  }
  /** Records requests of several transactions before they start, so that a crash cannot lose the entry. */
  const recordBeforehand = async (request: FastifyRequest) => {
    if (request.audit !== null)
      await saveAuditEntry(db, { ...request.audit, id: requestOperationId(request), status: null })
  }
  const finish = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const recorded = record(request, reply.statusCode)
    // A replay changed nothing, so its response does not wait for the entry.
    if (!isReplayedResponse(reply)) await recorded
    return payload
  }

  return (route: RouteOptions): void => {
    if (!isUnsafeMethod(route.method)) return
    route.onRequest = [begin, ...[route.onRequest ?? []].flat()]
    if (route.config?.noReplay !== undefined)
      route.preHandler = [...[route.preHandler ?? []].flat(), recordBeforehand]
    route.onSend = [finish, ...[route.onSend ?? []].flat()]
  }
}
