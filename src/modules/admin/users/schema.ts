import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  line,
  listOf,
  nullable,
  pageQuery,
  request,
  response,
  Time
} from '../../../kernel/wire.ts'

const Role = Type.Enum(['customer', 'admin'])
const SCOPES = 'The modules whose administration they may use; null: of all.'

export const UserQuery = input({
  ...pageQuery,
  q: Type.Optional(line(320, 'The beginning of an e-mail address or of a name, in any case.')),
  role: Type.Optional(Role),
  disabled: Type.Optional(Type.Boolean())
})
export type UserQuery = Static<typeof UserQuery>
export const UserSessionQuery = input(pageQuery)
export type UserSessionQuery = Static<typeof UserSessionQuery>
export const UserSessionParams = input({ id: Id, session_id: Id })

/** What an administrator may do, said as a whole: who leaves something out means nothing by it. */
const Rights = request('RightsRequest', {
  role: Role,
  scopes: nullable(Type.Array(line(64), { description: SCOPES, maxItems: 100, uniqueItems: true }))
})
export const ManageUserRequest = request('ManageUserRequest', {
  rights: Type.Optional({
    ...Rights,
    description: 'What they may do. For a customer, `scopes` is null.'
  }),
  disabled: Type.Optional(Type.Boolean({ description: 'Disabled, nobody gets in, and all sessions end.' }))
})
export type ManageUserRequest = Static<typeof ManageUserRequest>

export const ManagedUserResponse = response('ManagedUserResponse', {
  id: Id,
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  role: Role,
  scopes: nullable(Type.Array(Type.String(), { description: SCOPES })),
  email_verified: Type.Boolean(),
  phone: nullable(Type.String({ description: 'E.164.' })),
  locale: nullable(Type.String()),
  marketing_consent: Type.Boolean(),
  created_at: Time,
  disabled_at: nullable(Time)
})
export const ManagedUserListResponse = listOf(ManagedUserResponse)

const UserSessionResponse = response('UserSessionResponse', {
  id: Id,
  user_agent: nullable(Type.String()),
  created_at: Time,
  last_used_at: Time,
  expires_at: Time
})
export const UserSessionListResponse = listOf(UserSessionResponse)

export const UserExportResponse = response('UserExportResponse', {
  user_id: Id,
  exported_at: Time,
  parts: Type.Unsafe<Record<string, unknown>>({
    type: 'object',
    additionalProperties: true,
    description: 'What each module keeps, by the names of the modules.'
  })
})
