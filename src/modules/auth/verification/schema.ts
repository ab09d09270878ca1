import { type Static, Type } from '../../../kernel/schema.ts'
import { request, response } from '../../../kernel/wire.ts'
import { EmailSchema, PasswordSchema } from '../users/schema.ts'

export const OneTimeTokenSchema = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'The token in the mail, valid for one use.'
})
/** The response is the same whether or not a mail is sent, so it reveals no accounts. */
export const TokenMailRequestedResponse = response('TokenMailRequestedResponse', {
  expires_in: Type.Integer({ description: 'Seconds until the token in the mail expires.' })
})

export const VerifyEmailRequest = request('VerifyEmailRequest', { token: OneTimeTokenSchema })

export const ChangeEmailRequest = request('ChangeEmailRequest', {
  email: EmailSchema,
  password: Type.Unsafe<string>({ ...PasswordSchema, description: 'The current password.' })
})
export type ChangeEmailRequest = Static<typeof ChangeEmailRequest>
