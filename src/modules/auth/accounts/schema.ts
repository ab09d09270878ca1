import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, nullable, request, response, Time } from '../../../kernel/wire.ts'

const Role = Type.Enum(['customer', 'admin'])
export type Role = Static<typeof Role>

export const Email = Type.String({ minLength: 3, maxLength: 320 })
export const Password = Type.String({ minLength: 1, maxLength: 256 })
export const Name = line(200)
export const Locale = Type.String({
  minLength: 2,
  maxLength: 35,
  description: 'The language that they are addressed in (BCP 47), such as sv-SE.'
})

export const UserResponse = response('UserResponse', {
  id: Id,
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  role: Role,
  scopes: nullable(
    Type.Array(Type.String(), {
      description: 'The modules whose administration an administrator may use; null: of all.'
    })
  ),
  email_verified: Type.Boolean({ description: 'Whether its owner has shown that they read this address.' }),
  phone: nullable(Type.String({ description: 'E.164.' })),
  locale: nullable(Type.String({ description: 'The language that they are addressed in (BCP 47).' })),
  marketing_consent: Type.Boolean({ description: 'Whether they want to be sent advertisements.' }),
  created_at: Time
})
export type UserResponse = Static<typeof UserResponse>

const tokens = {
  access_token: Type.String({ description: 'Send it as "Authorization: Bearer <token>".' }),
  refresh_token: Type.String({
    description:
      'Good for one refresh. Within 20 seconds the same one gets the same successor again; later, or an older one, it ends its session.'
  }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds until the access token expires.' })
}
export const TokensResponse = response('TokensResponse', tokens)
export const SignedInResponse = response('SignedInResponse', { user: UserResponse, ...tokens })
/** Without tokens where the e-mail address has to be verified first. */
export const RegisteredResponse = response('RegisteredResponse', {
  user: UserResponse,
  access_token: Type.Optional(tokens.access_token),
  refresh_token: Type.Optional(tokens.refresh_token),
  token_type: Type.Optional(tokens.token_type),
  expires_in: Type.Optional(tokens.expires_in)
})

export const RegisterRequest = request('RegisterRequest', {
  email: Email,
  password: Password,
  name: Type.Optional(Name),
  locale: Type.Optional(Locale),
  invitation: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A code from an administrator, where registration needs one.'
    })
  )
})
export type RegisterRequest = Static<typeof RegisterRequest>

export const LoginRequest = request('LoginRequest', { email: Email, password: Password })
export type LoginRequest = Static<typeof LoginRequest>

export const RefreshRequest = request('RefreshRequest', {
  refresh_token: Type.String({ minLength: 1, maxLength: 200 })
})

export const ChangePasswordRequest = request('ChangePasswordRequest', {
  current_password: Password,
  new_password: Password,
  keep_api_keys: Type.Optional(
    Type.Boolean({
      description: 'Whether API keys of an administrator stay valid; by default they are revoked.',
      default: false
    })
  )
})
export type ChangePasswordRequest = Static<typeof ChangePasswordRequest>

export const SessionResponse = response('SessionResponse', {
  id: Id,
  user_agent: nullable(Type.String()),
  created_at: Time,
  last_used_at: Time,
  expires_at: Time,
  current: Type.Boolean({ description: 'Whether it is the session of the token used here.' })
})

export const CreateInvitationRequest = request('CreateInvitationRequest', {
  expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 14 }))
})
const invitation = {
  id: Id,
  created_at: Time,
  expires_at: Time,
  used_at: nullable(Time),
  used_by: nullable(Id)
}
export const InvitationResponse = response('InvitationResponse', invitation)
export const NewInvitationResponse = response('NewInvitationResponse', {
  ...invitation,
  code: Type.String({ description: 'Good for one registration; told this once.' })
})

export const JwksResponse = response('JwksResponse', {
  keys: Type.Array(
    Type.Object({
      kty: Type.String(),
      crv: Type.String(),
      x: Type.String(),
      kid: Type.String(),
      alg: Type.String(),
      use: Type.String()
    })
  )
})
