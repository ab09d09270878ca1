import { type Static, type TSchema, Type } from '../../../kernel/schema.ts'

const Id = Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$' })
const Time = Type.String({ format: 'date-time' })
const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()])
const input = <P extends Record<string, TSchema>>(properties: P) =>
  Type.Object(properties, { additionalProperties: false })

/** The body of a 204. */
export const Nothing = Type.Null({ description: 'Done.' })

const Role = Type.Enum(['customer', 'admin'])
export type Role = Static<typeof Role>

const Email = Type.String({ minLength: 3, maxLength: 320 })
const Password = Type.String({ minLength: 1, maxLength: 256 })
const Name = Type.String({ minLength: 1, maxLength: 200, pattern: '^[^\\u0000-\\u001f\\u007f]*$' })

export const User = Type.Object({
  id: Id,
  email: Nullable(Type.String()),
  name: Nullable(Type.String()),
  role: Role,
  created_at: Time
})
export type User = Static<typeof User>

const tokens = {
  access_token: Type.String({ description: 'Send it as "Authorization: Bearer <token>".' }),
  refresh_token: Type.String({
    description:
      'Good for one refresh. Within 20 seconds the same one gets the same successor again; later, or an older one, it ends its session.'
  }),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds until the access token expires.' })
}
export const Tokens = Type.Object(tokens)
export const SignedIn = Type.Object({ user: User, ...tokens })

export const RegisterBody = input({
  email: Email,
  password: Password,
  name: Type.Optional(Name),
  invitation: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'A code from an administrator, where registration needs one.'
    })
  )
})
export type RegisterBody = Static<typeof RegisterBody>

export const LoginBody = input({ email: Email, password: Password })
export type LoginBody = Static<typeof LoginBody>

export const RefreshBody = input({ refresh_token: Type.String({ minLength: 1, maxLength: 200 }) })

export const ProfileBody = input({ name: Nullable(Name) })

export const PasswordBody = input({ current_password: Password, new_password: Password })
export type PasswordBody = Static<typeof PasswordBody>

export const IdParams = input({ id: Id })
export const PageQuery = input({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
  cursor: Type.Optional(Type.String({ minLength: 1, maxLength: 512 }))
})

const pageOf = <T extends TSchema>(item: T) =>
  Type.Object({ items: Type.Array(item), next_cursor: Nullable(Type.String()) })

export const Sessions = pageOf(
  Type.Object({
    id: Id,
    user_agent: Nullable(Type.String()),
    created_at: Time,
    last_used_at: Time,
    expires_at: Time,
    current: Type.Boolean({ description: 'Whether it is the session of the token used here.' })
  })
)

export const InvitationBody = input({
  expires_in_days: Type.Optional(Type.Integer({ minimum: 1, maximum: 365, default: 14 }))
})
const invitation = { id: Id, created_at: Time, expires_at: Time, used_at: Nullable(Time) }
export const Invitation = Type.Object({
  ...invitation,
  code: Type.String({ description: 'Good for one registration; told this once.' })
})
export const Invitations = pageOf(Type.Object({ ...invitation, used_by: Nullable(Id) }))

export const Jwks = Type.Object({
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
