import { callerNetwork } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import type { AuthRateLimits } from '../sessions/routes.ts'
import { TokenMailRequestedResponse } from '../verification/schema.ts'
import * as schema from './schema.ts'
import type { PasswordResetService } from './service.ts'

export function passwordResetRoutes(
  tiers: Tiers,
  resets: PasswordResetService,
  limits: AuthRateLimits
): void {
  tiers.public.post(
    '/auth/forgot',
    {
      config: {
        allowedInMaintenance: 'administrators must be able to reset their password',
        class: 'account',
        limit: limits.register
      },
      schema: {
        summary: 'Request a password reset',
        description:
          'Sends a mail with a reset token if an account has this address. The response is the same for ' +
          'every address, so it reveals no accounts. The token expires after `expires_in` seconds. A new ' +
          'request invalidates older tokens. 202: the mail is sent later, if at all.',
        body: schema.ForgotPasswordRequest,
        response: { 202: TokenMailRequestedResponse }
      }
    },
    request => resets.request(request.body.email, writeOf(request))
  )
  tiers.public.post(
    '/auth/reset',
    {
      config: {
        allowedInMaintenance: 'administrators must be able to reset their password',
        class: 'account',
        limit: limits.login
      },
      schema: {
        summary: 'Reset a password',
        description:
          'Sets a new password with the token of a reset mail. Ends all sessions and revokes all API keys ' +
          'of the account. 400 `AUTH_ONE_TIME_TOKEN_INVALID`: request another mail. 400 ' +
          '`AUTH_PASSWORD_TOO_WEAK`: choose another password; `reason` explains why.',
        body: schema.ResetPasswordRequest,
        response: noContent
      }
    },
    request => resets.reset(request.body, callerNetwork(request), writeOf(request))
  )
}
