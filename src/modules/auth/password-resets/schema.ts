import type { Static } from '../../../kernel/schema.ts'
import { request } from '../../../kernel/wire.ts'
import { Email, Password } from '../users/schema.ts'
import { Token } from '../verification/schema.ts'

export const ForgotPasswordRequest = request('ForgotPasswordRequest', { email: Email })

export const ResetPasswordRequest = request('ResetPasswordRequest', { token: Token, password: Password })
export type ResetPasswordRequest = Static<typeof ResetPasswordRequest>
