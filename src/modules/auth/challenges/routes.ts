import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { type AuthRateLimits, sessionOriginOf, setNoStoreHeader } from '../sessions/routes.ts'
import { SignedInResponse } from '../users/schema.ts'
import { AnswerChallengeRequest } from './schema.ts'
import type { LoginChallenges } from './service.ts'

export function loginChallengeRoutes(
  tiers: Tiers,
  challenges: LoginChallenges,
  limits: AuthRateLimits
): void {
  tiers.public.post(
    '/auth/login/second-factor',
    {
      config: {
        allowedInMaintenance: 'administrators must be able to log in',
        class: 'account',
        limit: limits.login,
        secret: 200,
        errors: ['unauthenticated']
      },
      schema: {
        summary: 'Complete a login with a second factor',
        description:
          'Takes the `challenge` of `POST /api/auth/login` and a code of the authenticator app, or a ' +
          'recovery code. Returns the user and the tokens. 401 `AUTH_SECOND_FACTOR_INVALID`: the code is ' +
          'wrong or used; `tries_left` tries remain. 401 `AUTH_CHALLENGE_ENDED`: log in again. 429 ' +
          '`AUTH_TOO_MANY_FAILURES`: wait for `Retry-After` seconds.',
        body: AnswerChallengeRequest,
        response: { 200: SignedInResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => challenges.answer(request.body, sessionOriginOf(request), writeOf(request))
  )
}
