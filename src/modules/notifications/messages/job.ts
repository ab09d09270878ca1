import { defineJob } from '../../../kernel/events.ts'
import { Type } from '../../../kernel/schema.ts'
import { Id } from '../../../kernel/wire.ts'
import { SMTP_CONNECTIONS_MAX } from '../settings.ts'

export const sendNotificationJob = defineJob(
  'notifications.send_message',
  {
    description: 'Sends a mail.',
    timeoutSeconds: 120,
    callsExternalService: true,
    concurrency: SMTP_CONNECTIONS_MAX
  },
  { message_id: Id, turn: Type.Integer() }
)
