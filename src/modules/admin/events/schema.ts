import { type Static, Type } from '../../../kernel/schema.ts'
import {
  Id,
  input,
  line,
  listOf,
  nullable,
  pageQuery,
  request,
  response,
  Time
} from '../../../kernel/wire.ts'

const DeliveryId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const DeliveryParams = input({ id: DeliveryId })

export const EventQuery = input({
  ...pageQuery,
  state: Type.Optional(
    Type.Enum(['dead', 'failing', 'pending'], {
      default: 'dead',
      description:
        'dead: tried in vain 10 times, and not tried any more. failing: to be tried again. pending: all else.'
    })
  )
})
export type EventQuery = Static<typeof EventQuery>

export const DiscardEventRequest = request('DiscardEventRequest', {
  reason: line(500, 'Why its effect need not happen; it is written into the log.')
})

const EventResponse = response('EventResponse', {
  id: DeliveryId,
  handler: Type.String({ description: 'The module and the event that it hears, or the name of a job.' }),
  event_id: Id,
  subject: Type.String({
    format: 'uuid',
    description: 'What it is about. Later events of the same subject wait for this one.'
  }),
  payload: Type.Unsafe<unknown>({ type: 'object', additionalProperties: true }),
  attempts: Type.Integer({ description: 'How often it was tried.' }),
  error: nullable(Type.String({ description: 'Why the latest try failed.' })),
  since: Time,
  due_at: nullable({ ...Time, description: 'When it is tried again; null when it is not.' })
})
export const EventListResponse = listOf(EventResponse)
