import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'

/** `webhooks.endpoint_disabled`: the shop disabled an endpoint because of failures. */
export const endpointDisabledEvent = defineEvent(
  'webhooks.endpoint_disabled',
  {
    description:
      'The shop disabled an endpoint: it responded with 410 Gone, or every delivery to it failed for `webhooks.disable_after_days`.',
    subject: 'the endpoint',
    webhook: 'none'
  },
  {
    endpoint_id: Id,
    reason: Type.Enum(['failing', 'gone']),
    failing_since: Type.String({ format: 'date-time' }),
    error: Type.String({ description: 'Why the last attempt failed.' }),
    answer: nullable(Type.String({ description: 'The beginning of the last response body.' }))
  }
)
