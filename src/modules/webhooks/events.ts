import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id, nullable } from '../../kernel/wire.ts'

/** `webhooks.endpoint_disabled`: the shop itself switched an endpoint off. */
export const endpointDisabled = defineEvent(
  'webhooks.endpoint_disabled',
  {
    description: 'An endpoint was switched off by the shop: it said that it is gone, or failed for days.',
    subject: 'the endpoint',
    outside: 'never'
  },
  {
    endpoint_id: Id,
    reason: Type.Enum(['failing', 'gone']),
    failing_since: Type.String({ format: 'date-time' }),
    error: Type.String({ description: 'What was wrong with the last try.' }),
    answer: nullable(Type.String({ description: 'The first of the last answer.' }))
  }
)
