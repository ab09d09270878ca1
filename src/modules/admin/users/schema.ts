import { changeListQueryFields, changeListResponse } from '../../../kernel/change-lists.ts'
import {
  adminMetadataRequestFields,
  adminMetadataResponseFieldSchemas,
  metadataFilterQuery
} from '../../../kernel/metadata.ts'
import { acceptsFieldsOf, showsFieldsOf } from '../../../kernel/resource-schemas.ts'
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
import type { userResource } from '../../auth/index.ts'

const Role = Type.Enum(['customer', 'admin'])
const SCOPES = 'Modules that an administrator may manage. Null: full access, or a customer.'

export const UserListQuery = input({
  ...pageQuery,
  ...changeListQueryFields,
  q: Type.Optional(line(320, 'Beginning of an e-mail address or name. Upper and lower case are equal.')),
  role: Type.Optional(Role),
  disabled: Type.Optional(Type.Boolean({ description: 'Only accounts that are disabled, or only others.' })),
  ...metadataFilterQuery
})
export type UserListQuery = Static<typeof UserListQuery>
export const UserSessionListQuery = input(pageQuery)
export type UserSessionListQuery = Static<typeof UserSessionListQuery>
export const UserSessionParams = input({ id: Id, session_id: Id })

/** Both members are required, so that an omitted one cannot be read as a change of rights. */
const Rights = request('RightsRequest', {
  role: Role,
  scopes: nullable(Type.Array(line(64), { description: SCOPES, maxItems: 100, uniqueItems: true }))
})
const ManageUserRequest = request('ManageUserRequest', {
  rights: Type.Optional({
    ...Rights,
    description: 'Rights of the user. For a customer, `scopes` is null.'
  }),
  disabled: Type.Optional(
    Type.Boolean({ description: 'True: ends all sessions of the user and rejects new logins.' })
  )
})
/** A change of a user's metadata. Afterwards `metadata` has at most 16 kB. */
export const UserMetadataRequest = request('UserMetadataRequest', adminMetadataRequestFields)
export type ManageUserRequest = Static<typeof ManageUserRequest>

const ManagedUserResponse = response('ManagedUserResponse', {
  id: Id,
  email: nullable(Type.String()),
  name: nullable(Type.String()),
  role: Role,
  scopes: nullable(Type.Array(Type.String(), { description: SCOPES })),
  email_verified: Type.Boolean(),
  phone: nullable(Type.String({ description: 'Phone number in E.164 format.' })),
  locale: nullable(Type.String({ description: 'Language tag, such as de-CH.' })),
  marketing_consent: Type.Boolean({ description: 'True: the user has agreed to marketing mails.' }),
  created_at: Time,
  disabled_at: nullable({ ...Time, description: 'Null: the account is enabled.' }),
  ...adminMetadataResponseFieldSchemas,
  updated_at: { ...Time, description: 'When one of these fields last changed.' }
})

/** The schemas of users, with the fields that modules add to the resource. */
export function createUserSchemas(users: typeof userResource) {
  const UserResponse = showsFieldsOf(users, 'admin', ManagedUserResponse)
  return {
    ManageUserRequest: acceptsFieldsOf(users, 'update', ManageUserRequest),
    ManagedUserResponse: UserResponse,
    ManagedUserListResponse: changeListResponse(UserResponse)
  }
}
export type UserSchemas = ReturnType<typeof createUserSchemas>

const UserSessionResponse = response('UserSessionResponse', {
  id: Id,
  user_agent: nullable(Type.String({ description: 'User-Agent header of the login.' })),
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
    description: 'Personal data by the name of the module that stores it.'
  })
})
