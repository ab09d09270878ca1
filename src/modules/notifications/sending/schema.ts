import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, line, listOf, request, response } from '../../../kernel/wire.ts'
import { Channel, NotificationResponse, Status } from '../messages/schema.ts'
import { TemplateNameSchema } from '../template-changes/schema.ts'

export const SendRequest = request('SendNotificationRequest', {
  template: TemplateNameSchema,
  channel: Type.Optional(
    Type.Enum(['email', 'log'], {
      default: 'email',
      description: 'log: it is only noted that it would be sent.'
    })
  ),
  data: Type.Optional(
    Type.Unsafe<Readonly<Record<string, unknown>>>({
      type: 'object',
      additionalProperties: true,
      'x-bytes-max': 2_048,
      description: 'What it is about: of orders `order_id`, and of parcels `shipment_id`, too; else nothing.'
    })
  ),
  to: Type.Optional(
    line(
      320,
      'An e-mail address; for administrators who look after mails. Without it, it is sent to the caller.'
    )
  )
})
export type SendRequest = Static<typeof SendRequest>
export const SendResponse = response('SendNotificationResponse', { id: Id, channel: Channel, status: Status })
export type SendResponse = Static<typeof SendResponse>
export const NotificationListResponse = listOf(NotificationResponse)
