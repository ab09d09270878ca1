import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams, listOf, noContent, PageQuery } from '../../../kernel/wire.ts'
import { setNoStoreHeader } from '../sessions/routes.ts'
import * as schema from '../users/schema.ts'
import type { InvitationService } from './service.ts'

const config = { class: 'account' } as const

export function invitationRoutes(tiers: Tiers, invitations: InvitationService): void {
  tiers.admin.post(
    '/auth/invitations',
    {
      config: { class: 'account', secret: 201 },
      schema: {
        summary: 'Create a registration invitation',
        description:
          'Creates a code with which one customer can register while the shop requires invitations. Only ' +
          'this response contains the code. It expires after `expires_in_days`.',
        body: schema.CreateInvitationRequest,
        response: { 201: schema.NewInvitationResponse }
      },
      onRequest: setNoStoreHeader
    },
    request => invitations.create(identityOf(request).userId, request.body, writeOf(request))
  )
  tiers.admin.get(
    '/auth/invitations',
    {
      config,
      schema: {
        summary: 'List registration invitations',
        description:
          'Returns all invitations, the newest first. Used and expired ones are included; expired ones are ' +
          'deleted after 30 days.',
        querystring: PageQuery,
        response: { 200: listOf(schema.InvitationResponse) }
      }
    },
    request => invitations.list(request.query)
  )
  tiers.admin.delete(
    '/auth/invitations/:id',
    {
      config,
      schema: {
        summary: 'Delete a registration invitation',
        description:
          'Deletes the invitation. Its code can no longer be used; an account that was registered with it ' +
          'stays. 404 `AUTH_INVITATION_NOT_FOUND`: no invitation has this id.',
        params: IdParams,
        response: noContent
      }
    },
    request => invitations.remove(request.params.id, writeOf(request))
  )
}
