import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import type { AuthLimits } from '../accounts/routes.ts'
import * as schema from './schema.ts'
import type { Verification } from './service.ts'

const config = { class: 'account' } as const

export function verificationRoutes(tiers: Tiers, verification: Verification, limits: AuthLimits): void {
  tiers.public.post(
    '/auth/verify',
    {
      config: { class: 'account', limit: limits.login },
      schema: {
        summary: 'Verify an e-mail address',
        description:
          'With the token of the message that was sent there. A new address becomes that of the account.',
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
        summary: 'Have the message about the own e-mail address sent again',
        description: 'What was sent before is good for nothing then.',
        response: { 202: schema.MessageResponse }
      }
    },
    request => verification.requestAgain(identityOf(request), writeOf(request))
  )
  tiers.secured.post(
    '/auth/email',
    {
      config: { ...config, recentLogin: 'administrators' },
      schema: {
        summary: 'Change the own e-mail address',
        description: 'It counts once it is verified: a message is sent there, unless somebody else has it.',
        body: schema.ChangeEmailRequest,
        response: { 202: schema.MessageResponse }
      }
    },
    request => verification.change(identityOf(request), request.body, writeOf(request))
  )
}
