import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, listOf, request, response } from '../../../kernel/wire.ts'
import {
  NotificationChannelSchema,
  NotificationResponse,
  NotificationStatusSchema
} from '../messages/schema.ts'
import { MailTemplateNameSchema } from '../template-administration/schema.ts'

export const SendNotificationRequest = request('SendNotificationRequest', {
  template: MailTemplateNameSchema,
  channel: Type.Optional(
    Type.Enum(['email', 'log'], {
      default: 'email',
      description: 'log: writes a line to the log of the shop instead of sending a mail.'
    })
  ),
  data: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      additionalProperties: true,
      'x-bytes-max': 2_048,
      description:
        'Ids that the template is about: `order_id` for templates of orders, `order_id` and `shipment_id` for `order_shipped`.'
    })
  ),
  to: Type.Optional(
    line(
      320,
      'E-mail address of another recipient. Needs access to notifications. Default: the address of the caller.'
    )
  )
})
export type SendNotificationRequest = Static<typeof SendNotificationRequest>
export const SendNotificationResponse = response('SendNotificationResponse', {
  id: Id,
  channel: NotificationChannelSchema,
  status: NotificationStatusSchema
})
export type SendNotificationResponse = Static<typeof SendNotificationResponse>
export const NotificationListResponse = listOf(NotificationResponse)
