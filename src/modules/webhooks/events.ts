import { defineEvent } from '../../kernel/events.ts'
import { Type } from '../../kernel/schema.ts'
import { Id } from '../../kernel/wire.ts'

/** `webhooks.endpoint_disabled`: the shop itself switched an endpoint off. */
export const endpointDisabled = defineEvent(
  'webhooks.endpoint_disabled',
  {
    description: 'An endpoint was switched off by the shop: it said that it is gone, or failed for days.',
    subject: 'the endpoint',
    outside: 'never'
  },
  { endpoint_id: Id, reason: Type.Enum(['failing', 'gone']) }
)
