import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, noContent } from '../../../kernel/wire.ts'
import * as schema from './schema.ts'
import type { UserService } from './service.ts'

const config = { class: 'account', wholeShop: true } as const
const byPeople = { ...config, forPeople: true } as const

export function userRoutes(tiers: Tiers, users: UserService): void {
  tiers.admin.get(
    '/admin/users',
    {
      config,
      schema: {
        summary: 'Everybody who has an account, the newest first',
        querystring: schema.UserQuery,
        response: { 200: schema.ManagedUserListResponse }
      }
    },
    request => users.list(request.query)
  )
  tiers.admin.get(
    '/admin/users/:id',
    {
      config,
      schema: { summary: 'Somebody', params: IdParams, response: { 200: schema.ManagedUserResponse } }
    },
    request => users.read(request.params.id)
  )
  tiers.admin.patch(
    '/admin/users/:id',
    {
      config: { ...byPeople, recentLogin: 'everyone' },
      schema: {
        summary: 'Change what somebody may do, or let them in or not; never oneself',
        params: IdParams,
        body: schema.ManageUserRequest,
        response: { 200: schema.ManagedUserResponse }
      }
    },
    request => users.patch(identityOf(request).userId, request.params.id, request.body, writeOf(request))
  )
  tiers.admin.delete(
    '/admin/users/:id',
    {
      config: byPeople,
      schema: {
        summary: 'Delete an account, as its owner can',
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
        summary: 'All that is kept of somebody',
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
        summary: 'Where somebody is logged in',
        params: IdParams,
        querystring: schema.UserSessionQuery,
        response: { 200: schema.UserSessionListResponse }
      }
    },
    request => users.sessions(request.params.id, request.query)
  )
  tiers.admin.delete(
    '/admin/users/:id/sessions',
    {
      config: byPeople,
      schema: { summary: 'End all sessions of somebody', params: IdParams, response: noContent }
    },
    request => users.endSessions(request.params.id, writeOf(request))
  )
  tiers.admin.delete(
    '/admin/users/:id/sessions/:session_id',
    {
      config: byPeople,
      schema: {
        summary: 'End one session of somebody',
        params: schema.UserSessionParams,
        response: noContent
      }
    },
    request => users.endSession(request.params.id, request.params.session_id, writeOf(request))
  )
}
