import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import { callerNetwork } from '../../../gateway/callers/rate-limits.ts'
import type { RouteLimit, Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot, writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import * as schema from '../users/schema.ts'
import type { SessionOrigin } from './origin.ts'
import type { SessionService } from './service.ts'

const config = { class: 'account' } as const

/** Rate limits per address against guessing and mass registration. */
export type AuthRateLimits = { readonly login: RouteLimit; readonly register: RouteLimit }

// Caches must not store tokens (RFC 6749, section 5.1).
export const setNoStoreHeader = (_request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
  reply.header('cache-control', 'no-store')
  done()
}

export const sessionOriginOf = (request: FastifyRequest): SessionOrigin => ({
  network: callerNetwork(request),
  userAgent: request.headers['user-agent'],
  withoutSlot: createRunWithoutRequestSlot(request)
})

export function sessionRoutes(tiers: Tiers, sessions: SessionService, limits: AuthRateLimits): void {
  tiers.public.post(
    '/auth/refresh',
    {
      config: {
        allowedInMaintenance: 'sessions continue',
        class: 'account',
        limit: limits.login,
        secret: 200,
        errors: ['unauthenticated']
      },
      schema: {
        summary: 'Exchange a refresh token',
        description:
          'Returns a new access token and a new refresh token. The sent token is used up. If the response ' +
          'was lost, send the same token again within 20 seconds: the response repeats. A later reuse ends ' +
          'the session. 401 `AUTH_INVALID_REFRESH_TOKEN`: the session is closed; log in again.',
        body: schema.RefreshRequest,
        response: { 200: schema.TokensResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => sessions.refresh(request.body.refresh_token, writeOf(request))
  )
  tiers.secured.post(
    '/auth/logout',
    {
      config: { ...config, allowedInMaintenance: 'users must be able to log out' },
      schema: {
        summary: 'Log out',
        description:
          'Ends the session of the access token. Its access token and its refresh token are revoked. Tokens ' +
          'of external issuers have no session here, so the request changes nothing for them.',
        response: noContent
      }
    },
    request => sessions.logOut(identityOf(request), writeOf(request))
  )
  tiers.secured.get(
    '/auth/sessions',
    {
      config,
      schema: {
        summary: "List the caller's sessions",
        description:
          'Returns the active sessions of the caller, the newest first. `current` marks the session of this ' +
          'request.',
        querystring: PageQuery,
        response: { 200: listOf(schema.SessionResponse) }
      }
    },
    request => sessions.list(identityOf(request), request.query)
  )
  tiers.secured.delete(
    '/auth/sessions/:id',
    {
      config: { ...config, allowedInMaintenance: 'users must be able to log out' },
      schema: {
        summary: "End one of the caller's sessions",
        description:
          'Revokes the tokens of one session. 404 `AUTH_SESSION_NOT_FOUND`: the caller has no active ' +
          'session with this id.',
        params: IdParams,
        response: noContent
      }
    },
    request => sessions.end(identityOf(request).userId, request.params.id, writeOf(request))
  )
}
