import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { UserAdministration } from './service.ts'

const config = { class: 'account', requiresFullAccess: true } as const
const byUsers = { ...config, isUsersOnly: true } as const

export function userAdministrationRoutes(
  tiers: Tiers,
  users: UserAdministration,
  own: schema.UserSchemas
): void {
  tiers.admin.get(
    '/admin/users',
    {
      config,
      schema: {
        summary: 'List users',
        description:
          'Returns customers and administrators, newest first. Search by the beginning of an e-mail address or name in `q`, and filter by `role` and `disabled`. Poll for changes with `updated_since`. Needs an administrator with full access. 400 `UPDATED_SINCE_FILTERED`: send `updated_since` without filters.',
        querystring: schema.UserListQuery,
        response: { 200: own.ManagedUserListResponse }
      }
    },
    request => users.list(request.query)
  )
  tiers.admin.get(
    '/admin/users/:id',
    {
      config,
      schema: {
        summary: 'Retrieve a user',
        description:
          'Returns the account of a customer or administrator. Needs an administrator with full access. 404 `AUTH_USER_NOT_FOUND`: the account does not exist or was deleted.',
        params: IdParams,
        response: { 200: own.ManagedUserResponse }
      }
    },
    request => users.read(request.params.id)
  )
  tiers.admin.patch(
    '/admin/users/:id',
    {
      config: { ...byUsers, recentLogin: 'all' },
      schema: {
        summary: 'Update a user',
        description:
          'Changes the rights of another user, or disables or enables their account. A disabled user is logged out everywhere and cannot log in. Needs an administrator with full access and a recent login; API keys are rejected. 400 `ADMIN_SCOPE_UNKNOWN`: use names of `modules`. 404 `AUTH_USER_NOT_FOUND`: the account does not exist. 409 `ADMIN_OWN_ACCOUNT`: ask another administrator. 409 `AUTH_LAST_ADMIN`: give full access to another user first.',
        params: IdParams,
        body: own.ManageUserRequest,
        response: { 200: own.ManagedUserResponse }
      }
    },
    request => users.patch(identityOf(request).userId, request.params.id, request.body, writeOf(request))
  )
  tiers.admin.patch(
    '/admin/users/:id/metadata',
    {
      config,
      schema: {
        summary: "Update a user's metadata",
        description:
          'Changes `metadata` and `private_metadata` of a user. Sent keys are set, null deletes a key, and other keys stay. The user sees `metadata`; only administrators see `private_metadata`. Needs an administrator or API key with full access. 400 `METADATA_LIMIT`: the user would have too many keys or bytes; delete some. 404 `AUTH_USER_NOT_FOUND`: the account does not exist.',
        params: IdParams,
        body: schema.UserMetadataRequest,
        response: { 200: own.ManagedUserResponse }
      }
    },
    request => users.updateMetadata(request.params.id, request.body, writeOf(request))
  )
  tiers.admin.delete(
    '/admin/users/:id',
    {
      config: byUsers,
      schema: {
        summary: 'Delete a user',
        description:
          'Deletes the account of another user and erases their personal data in every module. Needs an administrator with full access; API keys are rejected. 404 `AUTH_USER_NOT_FOUND`: the account does not exist. 409 `ADMIN_OWN_ACCOUNT` or `AUTH_LAST_ADMIN`: another administrator with full access must remain. 409 `ORDER_STILL_OPEN`: complete or cancel the open orders first.',
        params: IdParams,
        response: noContent
      }
    },
    request => users.erase(identityOf(request).userId, request.params.id, writeOf(request))
  )
  tiers.admin.get(
    '/admin/users/:id/export',
    {
      config: { ...config, class: 'bulk' },
      schema: {
        summary: "Export a user's data",
        description:
          'Returns the personal data of a user from every module, as GDPR article 15 requires. Needs an administrator with full access. 404 `AUTH_USER_NOT_FOUND`: the account does not exist or was deleted.',
        params: IdParams,
        response: { 200: schema.UserExportResponse }
      }
    },
    request => users.export(request.params.id)
  )
  tiers.admin.get(
    '/admin/users/:id/sessions',
    {
      config,
      schema: {
        summary: 'List sessions of a user',
        description:
          'Returns the active sessions of a user, newest first. Needs an administrator with full access. 404 `AUTH_USER_NOT_FOUND`: the account does not exist or was deleted.',
        params: IdParams,
        querystring: schema.UserSessionListQuery,
        response: { 200: schema.UserSessionListResponse }
      }
    },
    request => users.sessions(request.params.id, request.query)
  )
  tiers.admin.delete(
    '/admin/users/:id/sessions',
    {
      config: byUsers,
      schema: {
        summary: 'End all sessions of a user',
        description:
          'Logs a user out on every device. Needs an administrator with full access; API keys are rejected. 404 `AUTH_USER_NOT_FOUND`: the account does not exist or was deleted.',
        params: IdParams,
        response: noContent
      }
    },
    request => users.endSessions(request.params.id, writeOf(request))
  )
  tiers.admin.delete(
    '/admin/users/:id/sessions/:session_id',
    {
      config: byUsers,
      schema: {
        summary: 'End a session of a user',
        description:
          'Logs a user out on one device. Needs an administrator with full access; API keys are rejected. 404 `AUTH_USER_NOT_FOUND`: the account does not exist. 404 `AUTH_SESSION_NOT_FOUND`: the session has ended, or belongs to another user.',
        params: schema.UserSessionParams,
        response: noContent
      }
    },
    request => users.endSession(request.params.id, request.params.session_id, writeOf(request))
  )
}
