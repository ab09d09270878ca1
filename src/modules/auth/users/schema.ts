import { publicMetadataResponseFields } from '../../../kernel/metadata.ts'
import { showsFieldsOf } from '../../../kernel/resource-schemas.ts'
import { defineResource } from '../../../kernel/resources.ts'
import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, nullable, request, response, Time } from '../../../kernel/wire.ts'

const RoleSchema = Type.Enum(['customer', 'admin'])
export type UserRole = Static<typeof RoleSchema>

export const EmailSchema = Type.String({ minLength: 3, maxLength: 320 })
export const PasswordSchema = Type.String({ minLength: 1, maxLength: 256 })
export const UserNameSchema = line(200)
export const LocaleSchema = Type.String({
  minLength: 2,
  maxLength: 35,
  description: 'The language of mails to the user (BCP 47), such as sv-SE.'
})

/** Users. Modules can add fields to what users see of their own account, and to what administrators see and change. */
export const userResource = defineResource('auth.user', { audiences: ['owner', 'admin'] })

export const UserResponse = showsFieldsOf(
  userResource,
  'owner',
  response('UserResponse', {
    id: Id,
    email: nullable(Type.String()),
    name: nullable(Type.String()),
    role: RoleSchema,
    scopes: nullable(
      Type.Array(Type.String(), {
        description: 'The modules that an administrator can manage. Null: all modules.'
      })
    ),
    email_verified: Type.Boolean({ description: 'Whether the user has verified this address.' }),
    phone: nullable(Type.String({ description: 'E.164.' })),
    locale: nullable(Type.String({ description: 'The language of mails to the user (BCP 47).' })),
    marketing_consent: Type.Boolean({ description: 'Whether the user agreed to advertising mails.' }),
    ...publicMetadataResponseFields,
    created_at: Time
  })
)
export type UserResponse = Static<typeof UserResponse>

const tokens = {
  access_token: Type.String({ description: 'Send it as "Authorization: Bearer <token>".' }),
  refresh_token: Type.String({
    description:
      'Valid for one refresh. A repeat within 20 seconds returns the same new token; a later reuse ends the session.'
  }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds until the access token expires.' })
}
export const TokensResponse = response('TokensResponse', tokens)
export const SignedInResponse = response('SignedInResponse', { user: UserResponse, ...tokens })
/** Response to a registration. It has no tokens when the e-mail address must be verified first. */
export const RegisteredResponse = response('RegisteredResponse', {
  user: UserResponse,
  access_token: Type.Optional(tokens.access_token),
  refresh_token: Type.Optional(tokens.refresh_token),
  token_type: Type.Optional(tokens.token_type),
  expires_in: Type.Optional(tokens.expires_in)
})

export const RegisterRequest = request('RegisterRequest', {
  email: EmailSchema,
  password: PasswordSchema,
  name: Type.Optional(UserNameSchema),
  locale: Type.Optional(LocaleSchema),
  invitation: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'An invitation code. Required if the shop only takes invited customers.'
    })
  )
})
export type RegisterRequest = Static<typeof RegisterRequest>

export const LoginRequest = request('LoginRequest', { email: EmailSchema, password: PasswordSchema })
export type LoginRequest = Static<typeof LoginRequest>

export const RefreshRequest = request('RefreshRequest', {
  refresh_token: Type.String({ minLength: 1, maxLength: 200 })
})

export const ChangePasswordRequest = request('ChangePasswordRequest', {
  current_password: PasswordSchema,
  new_password: PasswordSchema,
  keep_api_keys: Type.Optional(
    Type.Boolean({
      description: 'Whether the API keys of an administrator stay valid. By default they are revoked.',
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
  current: Type.Boolean({ description: 'Whether this request uses this session.' })
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
  code: Type.String({
    description: 'The invitation code, valid for one registration. Only this response contains it.'
  })
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
