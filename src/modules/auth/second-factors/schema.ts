import { Type } from '../../../kernel/schema.ts'
import { nullable, request, response, Time } from '../../../kernel/wire.ts'

const Codes = Type.Array(Type.String(), {
  description: 'Ten codes in the place of the app; each is accepted once. Returned this once.'
})

export const SecondFactorResponse = response('SecondFactorResponse', {
  enrolled_at: nullable(Time),
  recovery_codes_left: Type.Integer(),
  is_required: Type.Boolean({ description: 'Whether administrators of this shop need a second factor.' })
})
export const EnrolmentResponse = response('EnrolmentResponse', {
  secret: Type.String({ description: 'For an authenticator app (base32).' }),
  otpauth_uri: Type.String({ description: 'The same as a URI, to be shown as a QR code.' })
})
export const ConfirmEnrolmentRequest = request('ConfirmEnrolmentRequest', {
  code: Type.String({ minLength: 6, maxLength: 10, description: 'The six digits that the app shows.' })
})
export const RecoveryCodesResponse = response('RecoveryCodesResponse', { recovery_codes: Codes })
