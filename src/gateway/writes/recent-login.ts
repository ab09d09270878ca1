import type { FastifyReply, FastifyRequest } from 'fastify'
import { isRecentLogin, loginTooOldError } from '../../kernel/logins.ts'
import { identityOf } from '../callers/identity.ts'
import { writeOf } from './write.ts'

/** Hook of routes with `recentLogin`. A retry of an applied request passes, because it changes nothing. */
export function requireRecentLogin(
  request: FastifyRequest,
  _reply: FastifyReply,
  done: (error?: Error) => void
): void {
  const identity = identityOf(request)
  const { recentLogin } = request.routeOptions.config
  const isExempt = recentLogin === 'administrators' && identity.role !== 'admin'
  const isAllowed = isExempt || isRecentLogin(identity) || writeOf(request).alreadyApplied
  done(isAllowed ? undefined : loginTooOldError())
}
