import type { FastifyReply, FastifyRequest } from 'fastify'
import { isRecentLogin, loginTooOld } from '../../kernel/logins.ts'
import { identityOf } from '../callers/identity.ts'
import { writeOf } from './write.ts'

/**
 * In front of the handlers of routes with `recentLogin`. A repeated request that was applied before is answered, however late it comes.
 */
export function requireRecentLogin(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void
): void {
  const identity = identityOf(request)
  const { recentLogin } = request.routeOptions.config
  const isExempt = recentLogin === 'administrators' && identity.role !== 'admin'
  const isAllowed = isExempt || isRecentLogin(identity) || writeOf(request).alreadyApplied
  done(isAllowed ? undefined : loginTooOld())
}
