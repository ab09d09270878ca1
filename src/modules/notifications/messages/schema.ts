import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, nullable, response, Time } from '../../../kernel/wire.ts'

const STATUSES = ['pending', 'sent', 'dead', 'canceled', 'suppressed', 'skipped'] as const
export const Status = Type.Enum([...STATUSES], {
  description:
    'pending: to be sent, or tried again. dead: tried in vain, or refused for good. suppressed: nothing is sent to this address. skipped: there was nothing to say any more.'
})
export const Channel = Type.Enum(['email', 'log'])

export const shown = {
  id: Id,
  template: Type.String(),
  channel: Channel,
  status: Status,
  locale: Type.String(),
  created_at: Time,
  settled_at: nullable(Time)
}
export const NotificationResponse = response('NotificationResponse', shown)
export type NotificationResponse = Static<typeof NotificationResponse>
