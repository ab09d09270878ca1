import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { RouteLimit, Tiers } from '../../../gateway/routing/tiers.ts'
import { withoutSlotOf, writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import type { InvitationService } from '../invitations/service.ts'
import type { Origin } from '../sessions/origin.ts'
import type { SessionService } from '../sessions/service.ts'
import type { SigningKeys } from '../tokens/signing-keys.ts'
import * as schema from './schema.ts'
import type { AccountService } from './service.ts'

const config = { class: 'account' } as const

/** Guessing and filling up are slowed down for each address. */
export type AuthLimits = { readonly login: RouteLimit; readonly register: RouteLimit }

// RFC 6749, section 5.1: no cache on the way may keep tokens.
export const neverStored = (_request: FastifyRequest, reply: FastifyReply, done: () => void): void => {
  reply.header('cache-control', 'no-store')
  done()
}

export const originOf = (request: FastifyRequest): Origin => ({
  network: byAddress(request),
  userAgent: request.headers['user-agent'],
  withoutSlot: withoutSlotOf(request)
})

export function accountRoutes(tiers: Tiers, accounts: AccountService, limits: AuthLimits): void {
  tiers.public.post(
    '/auth/register',
    {
      config: { class: 'account', limit: limits.register, secret: 201, errors: ['forbidden'] },
      schema: {
        summary: 'Register',
        description: 'Where the e-mail address has to be verified first, there are no tokens in the answer.',
        body: schema.RegisterRequest,
        response: { 201: schema.RegisteredResponse }
      },
      onRequest: neverStored,
      preHandler: request => accounts.checkRegistration(request.body, writeOf(request))
    },
    request => accounts.register(request.body, originOf(request), writeOf(request))
  )
  tiers.public.post(
    '/auth/login',
    {
      config: {
        inMaintenance: 'administrators log in, too',
        class: 'account',
        limit: limits.login,
        secret: 200,
        unwritten: 'each try opens a session of its own',
        errors: ['unauthenticated', 'forbidden']
      },
      schema: {
        summary: 'Log in',
        description:
          'An account with a second factor is answered 401 `AUTH_SECOND_FACTOR_REQUIRED` with a `challenge` for `POST /api/auth/login/second-factor`.',
        body: schema.LoginRequest,
        response: { 200: schema.SignedInResponse }
      },
      onRequest: neverStored
    },
    request => accounts.logIn(request.body, originOf(request))
  )
  tiers.secured.post(
    '/auth/password',
    {
      config,
      schema: {
        summary: 'Change the own password',
        description: 'Ends every other session.',
        body: schema.ChangePasswordRequest,
        response: noContent
      }
    },
    request => accounts.changePassword(identityOf(request), request.body, writeOf(request))
  )
}

export function sessionRoutes(tiers: Tiers, sessions: SessionService, limits: AuthLimits): void {
  tiers.public.post(
    '/auth/refresh',
    {
      config: {
        inMaintenance: 'sessions go on',
        class: 'account',
        limit: limits.login,
        secret: 200,
        errors: ['unauthenticated']
      },
      schema: {
        summary: 'Exchange a refresh token for new tokens',
        body: schema.RefreshRequest,
        response: { 200: schema.TokensResponse }
      },
      onRequest: neverStored
    },
    request => sessions.refresh(request.body.refresh_token, writeOf(request))
  )
  tiers.secured.post(
    '/auth/logout',
    {
      config: { ...config, inMaintenance: 'sessions can be ended' },
      schema: { summary: 'Log out: end the session of the token', response: noContent }
    },
    request => sessions.logOut(identityOf(request), writeOf(request))
  )
  tiers.secured.get(
    '/auth/sessions',
    {
      config,
      schema: {
        summary: 'List the own sessions',
        querystring: PageQuery,
        response: { 200: listOf(schema.SessionResponse) }
      }
    },
    request => sessions.list(identityOf(request), request.query)
  )
  tiers.secured.delete(
    '/auth/sessions/:id',
    {
      config: { ...config, inMaintenance: 'sessions can be ended' },
      schema: { summary: 'End one of the own sessions', params: IdParams, response: noContent }
    },
    request => sessions.end(identityOf(request).userId, request.params.id, writeOf(request))
  )
}

export function invitationRoutes(tiers: Tiers, invitations: InvitationService): void {
  tiers.admin.post(
    '/auth/invitations',
    {
      config: { class: 'account', secret: 201 },
      schema: {
        summary: 'Invite somebody to register',
        body: schema.CreateInvitationRequest,
        response: { 201: schema.NewInvitationResponse }
      },
      onRequest: neverStored
    },
    request => invitations.create(identityOf(request).userId, request.body, writeOf(request))
  )
  tiers.admin.get(
    '/auth/invitations',
    {
      config,
      schema: {
        summary: 'List invitations',
        querystring: PageQuery,
        response: { 200: listOf(schema.InvitationResponse) }
      }
    },
    request => invitations.list(request.query)
  )
  tiers.admin.delete(
    '/auth/invitations/:id',
    { config, schema: { summary: 'Withdraw an invitation', params: IdParams, response: noContent } },
    request => invitations.remove(request.params.id, writeOf(request))
  )
}

/** The public keys, at their fixed address (RFC 7517; RFC 8615). */
export function keyRoutes(tiers: Tiers, published: SigningKeys['published']): void {
  tiers.wellKnown.get(
    '/.well-known/jwks.json',
    {
      config: { class: 'browse', cache: 'public' },
      schema: { summary: 'The public keys that verify access tokens', response: { 200: schema.JwksResponse } }
    },
    (_request, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return published()
    }
  )
}
