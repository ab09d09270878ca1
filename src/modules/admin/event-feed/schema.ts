import { type Static, Type } from '../../../kernel/schema.ts'
import { Id, input, nullable, response, Time } from '../../../kernel/wire.ts'

export const EVENT_FEED_LIMIT_DEFAULT = 100

const Position = { minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
export const EventFeedQuery = input({
  after: Type.Optional(
    Type.Integer({
      ...Position,
      description:
        'Returns the events after this position: the `next_after` of the previous page. Default: from the oldest event that is kept.'
    })
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 500,
      default: EVENT_FEED_LIMIT_DEFAULT,
      description: 'Maximum number of events on the page.'
    })
  )
})
export type EventFeedQuery = Static<typeof EventFeedQuery>

const FeedEventResponse = response('FeedEventResponse', {
  position: Type.Integer({
    description:
      'Place of the event in the log. Positions have no gaps. They begin at 1; after a restore, far above all earlier ones. Events of one subject are in their order.'
  }),
  id: { ...Id, description: 'Id of the event, the same as `event_id` of its webhook deliveries.' },
  name: Type.String({ description: 'Event type, such as `orders.placed`.' }),
  subject: Type.String({ format: 'uuid', description: 'Id of the object that the event is about.' }),
  subject_version: nullable(
    Type.Integer({
      description:
        'Version of the object after the change: the `version` of its responses. A copy with this version or a higher one contains the change. Null: the change deleted the object, or its type has no version.'
    })
  ),
  payload_version: Type.Integer({
    description:
      "Version of the format of this event type's payload. Stop at one that your program does not support."
  }),
  occurred_at: {
    ...Time,
    description: 'Time when the change began. Order events by `position`, not by time.'
  },
  payload: Type.Unsafe<unknown>({
    type: 'object',
    additionalProperties: true,
    description: 'What webhooks send as `data`.'
  }),
  traceparent: Type.Optional(
    Type.String({
      description:
        'The trace that caused the event (W3C Trace Context). Missing when it was not recorded, or is older than 7 days.'
    })
  )
})
export const EventFeedResponse = response('EventFeedResponse', {
  items: Type.Array(FeedEventResponse, { description: 'Events in the order of their positions.' }),
  next_after: Type.Integer({
    description:
      'Send it as `after` to get the next page. It can advance on an empty page: with scopes, events of other modules are left out. Unchanged: there are no more events yet.'
  }),
  latest_position: Type.Integer({ description: 'Position of the newest event. 0: the log is empty.' })
})
