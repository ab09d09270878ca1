import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import { type AuthRateLimits, sessionOriginOf, setNoStoreHeader } from '../sessions/routes.ts'
import * as schema from '../users/schema.ts'
import type { AccountService } from './service.ts'

const config = { class: 'account' } as const

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
