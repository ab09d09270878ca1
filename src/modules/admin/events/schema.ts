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

const Handler = line(
  200,
  'A module and the event that it hears, as in cart:catalog.changed, or the name of a job.'
)

export const EventQuery = input({
  ...pageQuery,
  state: Type.Optional(
    Type.Enum(['dead', 'failing', 'pending'], {
      default: 'dead',
      description:
        'dead: tried in vain 10 times, and not tried any more. failing: to be tried again. pending: all else.'
    })
  ),
  handler: Type.Optional(Handler)
})
export type EventQuery = Static<typeof EventQuery>

export const DiscardEventRequest = request('DiscardEventRequest', {
  reason: line(500, 'Why its effect need not happen; it is written into the log.')
})

const SOME = 'Only of this one; else of all.'
export const RetryEventsRequest = request('RetryEventsRequest', {
  handler: Type.Optional({ ...Handler, description: SOME })
})
export type RetryEventsRequest = Static<typeof RetryEventsRequest>
export const DiscardEventsRequest = request('DiscardEventsRequest', {
  handler: Type.Optional({ ...Handler, description: SOME }),
  reason: line(500, 'Why their effects need not happen; it is written into the log.')
})
export type DiscardEventsRequest = Static<typeof DiscardEventsRequest>
export const DeadEventsResponse = response('DeadEventsResponse', {
  left: Type.Integer({
    description: 'How many are dead still: at most 1,000 are taken at a time, so ask again.'
  })
})

const BacklogResponse = response('BacklogResponse', {
  handler: Type.String(),
  pending: Type.Integer({ description: 'They wait for their turn.' }),
  failing: Type.Integer({ description: 'They failed, and are tried again.' }),
  dead: Type.Integer({ description: 'They are not tried any more.' }),
  oldest_seconds: Type.Number({ description: 'How long the oldest has waited that is not dead.' }),
  latest_error: nullable(Type.String())
})
const ScheduleResponse = response('ScheduleResponse', {
  handler: Type.String({ description: 'The name of the job.' }),
  due_at: nullable({ ...Time, description: 'When it is done the next time, or given to another process.' }),
  is_running: Type.Boolean(),
  attempts: Type.Integer({ description: 'How often it was tried since it was last done.' }),
  error: nullable(Type.String({ description: 'Why the latest try failed.' }))
})
export const EventSummaryResponse = response('EventSummaryResponse', {
  handlers: Type.Array(BacklogResponse, { description: 'Those that have something to do.' }),
  schedules: Type.Array(ScheduleResponse, { description: 'Jobs that are done again and again.' })
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
