import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, listOf, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'

const Moment = Type.String({ format: 'date-time' })

export const AuditQuery = input({
  ...pageQuery,
  actor: Type.Optional({ ...Id, description: 'Only entries of this user.' }),
  route: Type.Optional(line(200, 'Only entries of this route, such as /api/admin/orders/:id/cancel.')),
  id: Type.Optional({ ...Id, description: 'Only entries with this id in their path, or as their own id.' }),
  since: Type.Optional({ ...Moment, description: 'Only entries at or after this time.' }),
  until: Type.Optional({ ...Moment, description: 'Only entries before this time.' })
})
export type AuditQuery = Static<typeof AuditQuery>

const AuditEntryResponse = response('AuditEntryResponse', {
  id: { ...Id, description: 'Id of the entry. An object that the request created has the same id.' },
  at: Time,
  actor: { ...Id, description: 'User who sent the request. The nil UUID is the operator who ran a command.' },
  actor_email: nullable(
    Type.String({ description: 'Null: the account was deleted, or has no e-mail address.' })
  ),
  method: Type.String(),
  route: Type.String({ description: 'Route with parameter names, such as /api/admin/orders/:id/cancel.' }),
  params: Type.Unsafe<unknown>({
    type: 'object',
    additionalProperties: true,
    description: 'Values of the parameters in the route.'
  }),
  request_id: Type.String(),
  status: nullable(
    Type.Integer({ description: 'HTTP status. Null: there was no response, or it was a command.' })
  )
})
export const AuditListResponse = listOf(AuditEntryResponse)
