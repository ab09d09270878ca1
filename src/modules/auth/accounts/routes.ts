import type { FastifyReply, FastifyRequest } from 'fastify'
import { identityOf } from '../../../gateway/callers/identity.ts'
import { callerNetwork } from '../../../gateway/callers/rate-limits.ts'
import type { RouteLimit, Tiers } from '../../../gateway/routing/tiers.ts'
import { createRunWithoutRequestSlot, writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import type { InvitationService } from '../invitations/service.ts'
import type { SessionOrigin } from '../sessions/origin.ts'
import type { SessionService } from '../sessions/service.ts'
import type { SigningKeyStore } from '../tokens/signing-keys.ts'
import * as schema from '../users/schema.ts'
import type { AccountService } from './service.ts'

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

export function accountRoutes(tiers: Tiers, accounts: AccountService, limits: AuthRateLimits): void {
  tiers.public.post(
    '/auth/register',
    {
      config: { class: 'account', limit: limits.register, secret: 201, errors: ['forbidden'] },
      schema: {
        summary: 'Register a customer',
        description:
          'Creates a customer account and logs it in. If the shop requires a verified e-mail address, the ' +
          'response has no tokens and a verification mail is sent. 403 `AUTH_REGISTRATION_CLOSED`, ' +
          '`AUTH_INVITATION_REQUIRED` or `AUTH_EMAIL_DOMAIN_NOT_ALLOWED`: the settings of the shop do not ' +
          'allow this registration. 409 `AUTH_EMAIL_TAKEN`: an account has this address; log in instead. ' +
          '400 `AUTH_PASSWORD_TOO_WEAK`: choose another password; `reason` explains why.',
        body: schema.RegisterRequest,
        response: { 201: schema.RegisteredResponse }
      },
      onRequest: setNoStoreHeader,
      preHandler: request => accounts.checkRegistration(request.body, writeOf(request))
    },
    request => accounts.register(request.body, sessionOriginOf(request), writeOf(request))
  )
  tiers.public.post(
    '/auth/login',
    {
      config: {
        allowedInMaintenance: 'administrators must be able to log in',
        class: 'account',
        limit: limits.login,
        secret: 200,
        noReplay: 'each try opens another session',
        errors: ['unauthenticated', 'forbidden']
      },
      schema: {
        summary: 'Log in',
        description:
          'Checks the e-mail address and the password, and returns the user with an access token and a ' +
          'refresh token. 401 `AUTH_INVALID_CREDENTIALS`: one of them is wrong, or the account is disabled. ' +
          '401 `AUTH_SECOND_FACTOR_REQUIRED`: send the returned `challenge` and a code to `POST ' +
          '/api/auth/login/second-factor`. 403 `AUTH_EMAIL_NOT_VERIFIED`: the shop requires a verified ' +
          'address; a verification mail is sent. 429 `AUTH_TOO_MANY_FAILURES`: wait for `Retry-After` ' +
          'seconds.',
        body: schema.LoginRequest,
        response: { 200: schema.SignedInResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => accounts.logIn(request.body, sessionOriginOf(request))
  )
  tiers.secured.post(
    '/auth/password',
    {
      config: { ...config, countsAs: 2 },
      schema: {
        summary: "Update the caller's password",
        description:
          'Replaces the password and ends all other sessions. API keys of an administrator are revoked too, ' +
          'unless `keep_api_keys` is true. 401 `AUTH_INVALID_CREDENTIALS`: `current_password` is wrong. 400 ' +
          '`AUTH_PASSWORD_TOO_WEAK`: choose another password; `reason` explains why.',
        body: schema.ChangePasswordRequest,
        response: noContent
      }
    },
    request => accounts.changePassword(identityOf(request), request.body, writeOf(request))
  )
}

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

export function invitationRoutes(tiers: Tiers, invitations: InvitationService): void {
  tiers.admin.post(
    '/auth/invitations',
    {
      config: { class: 'account', secret: 201 },
      schema: {
        summary: 'Create an invitation',
        description:
          'Creates a code with which one customer can register while the shop requires invitations. Only ' +
          'this response contains the code. It expires after `expires_in_days`.',
        body: schema.CreateInvitationRequest,
        response: { 201: schema.NewInvitationResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => invitations.create(identityOf(request).userId, request.body, writeOf(request))
  )
  tiers.admin.get(
    '/auth/invitations',
    {
      config,
      schema: {
        summary: 'List invitations',
        description:
          'Returns all invitations, the newest first. Used and expired ones are included; expired ones are ' +
          'deleted after 30 days.',
        querystring: PageQuery,
        response: { 200: listOf(schema.InvitationResponse) }
      }
    },
    request => invitations.list(request.query)
  )
  tiers.admin.delete(
    '/auth/invitations/:id',
    {
      config,
      schema: {
        summary: 'Delete an invitation',
        description:
          'Deletes the invitation. Its code can no longer be used; an account that was registered with it ' +
          'stays. 404 `AUTH_INVITATION_NOT_FOUND`: no invitation has this id.',
        params: IdParams,
        response: noContent
      }
    },
    request => invitations.remove(request.params.id, writeOf(request))
  )
}

/** Mounts the public keys at their well-known URI (RFC 7517; RFC 8615). */
export function jwksRoutes(tiers: Tiers, published: SigningKeyStore['published']): void {
  tiers.wellKnown.get(
    '/.well-known/jwks.json',
    {
      config: { class: 'browse', cache: 'public' },
      schema: {
        summary: 'List public keys',
        description:
          'Returns the keys that verify access tokens of this shop, as a JSON Web Key Set (RFC 7517). Caches ' +
          'can keep the response for five minutes.',
        response: { 200: schema.JwksResponse }
      }
    },
    (_request, reply) => {
      reply.header('cache-control', 'public, max-age=300')
      return published()
    }
  )
}
