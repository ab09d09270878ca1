import { type Static, Type } from '../../../kernel/schema.ts'
import { request } from '../../../kernel/wire.ts'

export const AnswerChallengeRequest = request('AnswerChallengeRequest', {
  challenge: Type.String({
    minLength: 1,
    maxLength: 100,
    description:
      'The challenge in the response of the login. Valid until one success, five failures, or five minutes.'
  }),
  code: Type.String({
    minLength: 6,
    maxLength: 40,
    description: 'The six digits of the authenticator app, or a recovery code. Each code is valid once.'
  })
})
export type AnswerChallengeRequest = Static<typeof AnswerChallengeRequest>
