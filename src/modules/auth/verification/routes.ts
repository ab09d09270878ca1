import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import type { AuthRateLimits } from '../sessions/routes.ts'
import * as schema from './schema.ts'
import type { EmailVerificationService } from './service.ts'

const config = { class: 'account' } as const

export function emailVerificationRoutes(
  tiers: Tiers,
  verification: EmailVerificationService,
  limits: AuthRateLimits
): void {
  tiers.public.post(
    '/auth/verify',
    {
      config: { class: 'account', limit: limits.login },
      schema: {
        summary: 'Verify an e-mail address',
        description:
          'Takes the token of a verification mail and marks its address as verified. If the mail was sent ' +
          'for a change of address, the account has the new address from then on. 400 ' +
          '`AUTH_ONE_TIME_TOKEN_INVALID`: request another mail. 409 `AUTH_EMAIL_TAKEN`: another account has ' +
          'the address by now.',
        body: schema.VerifyEmailRequest,
        response: noContent
      }
    },
    request => verification.verify(request.body.token, writeOf(request))
  )
  tiers.secured.post(
    '/auth/verification',
    {
      config,
      schema: {
        summary: 'Send the verification mail again',
        description:
          "Sends a new token to the caller's unverified address, or to the new address of a pending change. " +
          'Older tokens become invalid. 202: the mail is sent shortly. 409 `AUTH_EMAIL_VERIFIED`: there is ' +
          'nothing to verify. 429 `AUTH_TOO_MANY_MESSAGES`: use one of the mails that were sent.',
        response: { 202: schema.TokenMailRequestedResponse }
      }
    },
    request => verification.requestAgain(identityOf(request), writeOf(request))
  )
  tiers.secured.post(
    '/auth/email',
    {
      config: { ...config, recentLogin: 'administrators' },
      schema: {
        summary: "Update the caller's e-mail address",
        description:
          'Sends a verification mail to the new address. The account keeps the old address until `POST ' +
          '/api/auth/verify`. No mail is sent if another account has the address; the response is the same. ' +
          'Sending the present address cancels a pending change. 401 `AUTH_INVALID_CREDENTIALS`: the ' +
          'password is wrong. 403 `AUTH_RECENT_LOGIN_REQUIRED`: administrators log in again first.',
        body: schema.ChangeEmailRequest,
        response: { 202: schema.TokenMailRequestedResponse }
      }
    },
    request => verification.change(identityOf(request), request.body, writeOf(request))
  )
}
