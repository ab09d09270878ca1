import type { Static } from '../../../kernel/schema.ts'
import { request } from '../../../kernel/wire.ts'
import { EmailSchema, PasswordSchema } from '../users/schema.ts'
import { OneTimeTokenSchema } from '../verification/schema.ts'

export const ForgotPasswordRequest = request('ForgotPasswordRequest', { email: EmailSchema })

export const ResetPasswordRequest = request('ResetPasswordRequest', {
  token: OneTimeTokenSchema,
  password: PasswordSchema
})
export type ResetPasswordRequest = Static<typeof ResetPasswordRequest>
