import type { FastifyReply, FastifyRequest, RouteOptions } from 'fastify'
import { noteAudit } from '../../platform/audit.ts'
import type { Queryable } from '../../platform/postgres/database.ts'
import { identityOf } from '../callers/identity.ts'
import { isUnsafe } from '../routing/routes.ts'
import { isReplay } from './idempotency.ts'
import { operationIdOf } from './write.ts'

const NOT_NOTED = 'how a request of an administrator ended was not noted'
const ABANDONED = 503

/**
 * For `onRoute` of the admin tier: every request that may change something is written down with who sent it, which
 * route and ids, and how it ended. What changed stands there with the change itself (see `writeOf`), or before it where it
 * is many transactions; the status, and requests that changed nothing, are added before the answer leaves.
 */
export function auditUnsafeRequests(db: Queryable) {
  const note = async (request: FastifyRequest, status: number): Promise<void> => {
    if (request.audit === null) return
    const entry = { ...request.audit, id: operationIdOf(request), status }
    await noteAudit(db, entry).catch((error: unknown) => {
      // It is done, and the caller must learn of it. What it changed was written down with the change.
      request.log.warn({ req_id: request.id, err: error }, NOT_NOTED)
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
    // Answered 503 at its deadline, it ends without an answer of its own.
    request.onAbandoned = [...(request.onAbandoned ?? []), () => void note(request, ABANDONED)]
    done()
  }
  /** What is not one write with its mark would be lost with the process: it is noted before it begins, or refused. */
  const noteAhead = async (request: FastifyRequest) => {
    if (request.audit !== null)
      await noteAudit(db, { ...request.audit, id: operationIdOf(request), status: null })
  }
  const finish = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
    const noted = note(request, reply.statusCode)
    // A replay changed nothing, so its answer does not wait for the note.
    if (!isReplay(reply)) await noted
    return payload
  }

  return (route: RouteOptions): void => {
    if (!isUnsafe(route.method)) return
    route.onRequest = [begin, ...[route.onRequest ?? []].flat()]
    if (route.config?.unwritten !== undefined)
      route.preHandler = [...[route.preHandler ?? []].flat(), noteAhead]
    route.onSend = [finish, ...[route.onSend ?? []].flat()]
  }
}
