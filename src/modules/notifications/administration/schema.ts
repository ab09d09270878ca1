import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, listOf, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'
import { Status, shown } from '../messages/schema.ts'
import { TemplateNameSchema } from '../template-changes/schema.ts'

export const MessageQuery = input({
  ...pageQuery,
  status: Type.Optional(Status),
  template: Type.Optional(TemplateNameSchema),
  recipient: Type.Optional(line(320, 'An e-mail address.'))
})
export type MessageQuery = Static<typeof MessageQuery>

const listed = {
  ...shown,
  customer_id: nullable(Id),
  recipient: nullable(Type.String()),
  attempts: Type.Integer(),
  error: nullable(
    Type.String({
      description:
        'Why the last try was in vain, or none follows; of what was sent, why another template stood in for its own.'
    })
  ),
  due_at: nullable({ ...Time, description: 'When it is tried next.' })
}
export const MessageListResponse = listOf(response('AdminNotificationSummaryResponse', listed))
export type MessageSummary = Static<typeof MessageListResponse>['items'][number]
export const MessageResponse = response('AdminNotificationResponse', {
  ...listed,
  recipient_name: nullable(Type.String()),
  data: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description: 'What it says; links with tokens are made when it is sent.'
  })
})
export type MessageResponse = Static<typeof MessageResponse>
