import { byAddress } from '../../../gateway/callers/rate-limits.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import type { AuthLimits } from '../accounts/routes.ts'
import { MessageResponse } from '../verification/schema.ts'
import * as schema from './schema.ts'
import type { PasswordResets } from './service.ts'

export function passwordResetRoutes(tiers: Tiers, resets: PasswordResets, limits: AuthLimits): void {
  tiers.public.post(
    '/auth/forgot',
    {
      config: {
        inMaintenance: 'administrators forget theirs, too',
        class: 'account',
        limit: limits.register
      },
      schema: {
        summary: 'Have a token sent that sets a new password',
        description: 'Answers the same whether or not the address has an account.',
        body: schema.ForgotPasswordRequest,
        response: { 202: MessageResponse }
      }
    },
    request => resets.request(request.body.email, writeOf(request))
  )
  tiers.public.post(
    '/auth/reset',
    {
      config: { inMaintenance: 'administrators forget theirs, too', class: 'account', limit: limits.login },
      schema: {
        summary: 'Set a new password with the token of a message',
        description: 'Ends all sessions.',
        body: schema.ResetPasswordRequest,
        response: noContent
      }
    },
    request => resets.reset(request.body, byAddress(request), writeOf(request))
  )
}
