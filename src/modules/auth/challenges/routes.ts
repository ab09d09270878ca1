import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { type AuthLimits, neverStored, originOf } from '../accounts/routes.ts'
import { SignedInResponse } from '../accounts/schema.ts'
import { AnswerChallengeRequest } from './schema.ts'
import type { Challenges } from './service.ts'

export function challengeRoutes(tiers: Tiers, challenges: Challenges, limits: AuthLimits): void {
  tiers.public.post(
    '/auth/login/second-factor',
    {
      config: {
        inMaintenance: 'administrators log in, too',
        class: 'account',
        limit: limits.login,
        secret: 200,
        unwritten: 'a code is accepted once, so a repeated request never opens another session',
        errors: ['unauthenticated']
      },
      schema: {
        summary: 'Answer the challenge of a login',
        description: 'With a code of the authenticator app or a recovery code. Returns the tokens.',
        body: AnswerChallengeRequest,
        response: { 200: SignedInResponse }
      },
      onRequest: neverStored
    },
    request => challenges.answer(request.body, originOf(request))
  )
}
