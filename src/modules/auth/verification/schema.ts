import { type Static, Type } from '../../../kernel/schema.ts'
import { request, response } from '../../../kernel/wire.ts'
import { Email, Password } from '../accounts/schema.ts'

export const Token = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'From the message that was sent; good for one use.'
})
/** The same whether or not anything was sent. */
export const MessageResponse = response('MessageResponse', {
  expires_in: Type.Integer({ description: 'Seconds until the token of such a message expires.' })
})

export const VerifyEmailRequest = request('VerifyEmailRequest', { token: Token })

export const ChangeEmailRequest = request('ChangeEmailRequest', {
  email: Email,
  password: Type.Unsafe<string>({ ...Password, description: 'The present one.' })
})
export type ChangeEmailRequest = Static<typeof ChangeEmailRequest>
