import { type Static, Type } from '../../../kernel/schema.ts'
import { request } from '../../../kernel/wire.ts'

export const AnswerChallengeRequest = request('AnswerChallengeRequest', {
  challenge: Type.String({
    minLength: 1,
    maxLength: 100,
    description:
      'Of the answer to the log-in. It ends with its first success, its fifth failure, or after 5 minutes.'
  }),
  code: Type.String({
    minLength: 6,
    maxLength: 40,
    description: 'The six digits that the app shows, or a recovery code. Each is accepted once.'
  })
})
export type AnswerChallengeRequest = Static<typeof AnswerChallengeRequest>
