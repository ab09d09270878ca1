import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, listOf, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'

const Moment = Type.String({ format: 'date-time' })

export const AuditQuery = input({
  ...pageQuery,
  actor: Type.Optional({ ...Id, description: 'Who did it: the id of a user.' }),
  route: Type.Optional(line(200, 'As the entries have it: /api/admin/orders/:id/cancel.')),
  id: Type.Optional({ ...Id, description: 'What it was done to: any id in the path, or that of the entry.' }),
  since: Type.Optional({ ...Moment, description: 'From then on.' }),
  until: Type.Optional({ ...Moment, description: 'Before then.' })
})
export type AuditQuery = Static<typeof AuditQuery>

const AuditEntryResponse = response('AuditEntryResponse', {
  id: { ...Id, description: 'Of the request; what it made has the same.' },
  at: Time,
  actor: { ...Id, description: 'A user; the nil UUID is the operator, by a command.' },
  actor_email: nullable(Type.String({ description: 'Null: the account is gone, or has none.' })),
  method: Type.String(),
  route: Type.String(),
  params: Type.Unsafe<unknown>({
    type: 'object',
    additionalProperties: true,
    description: 'What stood in the place of the names in the route.'
  }),
  request_id: Type.String(),
  status: nullable(Type.Integer({ description: 'Null: it was not answered, or a command was run.' }))
})
export const AuditListResponse = listOf(AuditEntryResponse)
