import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, line, listOf, nullable, pageQuery, response, Time } from '../../../kernel/wire.ts'
import { NotificationStatusSchema, notificationResponseFieldSchemas } from '../messages/schema.ts'
import { MailTemplateNameSchema } from '../template-administration/schema.ts'

export const NotificationListQuery = input({
  ...pageQuery,
  status: Type.Optional(NotificationStatusSchema),
  template: Type.Optional(MailTemplateNameSchema),
  recipient: Type.Optional(line(320, 'Only messages to this e-mail address.'))
})
export type NotificationListQuery = Static<typeof NotificationListQuery>

const listedFields = {
  ...notificationResponseFieldSchemas,
  customer_id: nullable({ ...Id, description: 'Account of the recipient. Null for guests and staff.' }),
  recipient: nullable(Type.String({ description: 'E-mail address. Null when it was erased.' })),
  attempts: Type.Integer({ description: 'Attempts since the message was created or last retried.' }),
  error: nullable(
    Type.String({
      description:
        'Why the last attempt failed, or why the message is suppressed or skipped. For a sent message: why a fallback template was used.'
    })
  ),
  due_at: nullable({ ...Time, description: 'Time of the next attempt. Null unless the message is pending.' })
}
export const AdminNotificationListResponse = listOf(
  response('AdminNotificationSummaryResponse', listedFields)
)
export type AdminNotificationSummary = Static<typeof AdminNotificationListResponse>['items'][number]
export const AdminNotificationResponse = response('AdminNotificationResponse', {
  ...listedFields,
  recipient_name: nullable(Type.String()),
  data: Type.Unsafe<Readonly<Record<string, unknown>>>({
    type: 'object',
    additionalProperties: true,
    description:
      'Stored variables of the template. Links with tokens are not stored; they are created on sending.'
  })
})
export type AdminNotificationResponse = Static<typeof AdminNotificationResponse>
