import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, listOf, request, response } from '../../../kernel/wire.ts'
import { NotificationChannel, NotificationResponse, NotificationStatus } from '../messages/schema.ts'
import { TemplateNameSchema } from '../template-administration/schema.ts'

export const SendRequest = request('SendNotificationRequest', {
  template: TemplateNameSchema,
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
export type SendRequest = Static<typeof SendRequest>
export const SendResponse = response('SendNotificationResponse', {
  id: Id,
  channel: NotificationChannel,
  status: NotificationStatus
})
export type SendResponse = Static<typeof SendResponse>
export const NotificationListResponse = listOf(NotificationResponse)
