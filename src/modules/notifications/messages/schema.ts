import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, response, Time } from '../../../kernel/wire.ts'

const STATUSES = ['pending', 'sent', 'dead', 'canceled', 'suppressed', 'skipped'] as const
export const NotificationStatusSchema = Type.Enum([...STATUSES], {
  description:
    'pending: waits for its first attempt or for a retry. sent: the mail server accepted it. dead: rejected permanently, or every retry failed. canceled: an administrator canceled it. suppressed: the address is on the suppression list. skipped: its link is no longer valid, or its recipient was erased.'
})
export const NotificationChannelSchema = Type.Enum(['email', 'log'], {
  description: 'log: the message is written to the log of the shop instead of being sent.'
})

export const notificationResponseFieldSchemas = {
  id: Id,
  template: Type.String({ description: 'Name of the template, such as `order_placed`.' }),
  channel: NotificationChannelSchema,
  status: NotificationStatusSchema,
  locale: Type.String({ description: 'Requested language of the mail, such as `de-CH`.' }),
  created_at: Time,
  settled_at: nullable({ ...Time, description: 'Time of the final status. Null while it is pending.' })
}
export const NotificationResponse = response('NotificationResponse', notificationResponseFieldSchemas)
export type NotificationResponse = Static<typeof NotificationResponse>
