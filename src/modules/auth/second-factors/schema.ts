import { Type } from '../../../kernel/schema.ts'
import { nullable, request, response, Time } from '../../../kernel/wire.ts'

const Codes = Type.Array(Type.String(), {
  description: 'Ten codes to use without the app, each valid once. Only this response contains them.'
})

export const SecondFactorResponse = response('SecondFactorResponse', {
  enrolled_at: nullable(Time),
  recovery_codes_left: Type.Integer({ description: 'Number of unused recovery codes.' }),
  is_required: Type.Boolean({ description: 'Whether administrators of this shop need a second factor.' })
})
export const EnrolmentResponse = response('EnrolmentResponse', {
  secret: Type.String({ description: 'The secret for an authenticator app (base32).' }),
  otpauth_uri: Type.String({ description: 'The secret as a URI. Show it as a QR code.' })
})
export const ConfirmEnrolmentRequest = request('ConfirmEnrolmentRequest', {
  code: Type.String({ minLength: 6, maxLength: 10, description: 'The six digits in the authenticator app.' })
})
export const RecoveryCodesResponse = response('RecoveryCodesResponse', { recovery_codes: Codes })
