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

const EventId = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })
export const EventIdParams = input({ id: EventId })

const Handler = line(
  200,
  'Only this handler: a module and its event, such as `cart:catalog.changed`, or the name of a job.'
)

export const EventListQuery = input({
  ...pageQuery,
  state: Type.Optional(
    Type.Enum(['dead', 'failing', 'pending'], {
      default: 'dead',
      description:
        'dead: failed 10 times, and is not retried. failing: failed, and is retried. pending: waits for its first attempt.'
    })
  ),
  handler: Type.Optional(Handler)
})
export type EventListQuery = Static<typeof EventListQuery>

export const DiscardEventRequest = request('DiscardEventRequest', {
  reason: line(500, 'Why the effect is not needed. It is written to the log.')
})

const SOME = 'Only dead events and jobs of this handler. Default: of all handlers.'
export const RetryEventsRequest = request('RetryEventsRequest', {
  handler: Type.Optional({ ...Handler, description: SOME })
})
export type RetryEventsRequest = Static<typeof RetryEventsRequest>
export const DiscardEventsRequest = request('DiscardEventsRequest', {
  handler: Type.Optional({ ...Handler, description: SOME }),
  reason: line(500, 'Why the effects are not needed. It is written to the log.')
})
export type DiscardEventsRequest = Static<typeof DiscardEventsRequest>
export const DeadEventsLeftResponse = response('DeadEventsLeftResponse', {
  left: Type.Integer({
    description: 'Number of dead events and jobs that remain. Repeat the request until it is 0.'
  })
})

const BacklogResponse = response('BacklogResponse', {
  handler: Type.String({ description: 'A module and its event, or the name of a job.' }),
  pending: Type.Integer({ description: 'Number that wait for their first attempt.' }),
  failing: Type.Integer({ description: 'Number that failed and are retried.' }),
  dead: Type.Integer({ description: 'Number that failed 10 times and are not retried.' }),
  oldest_seconds: Type.Number({ description: 'Age in seconds of the oldest that is not dead.' }),
  latest_error: nullable(Type.String({ description: 'Error of the latest attempt that failed.' }))
})
const ScheduleResponse = response('ScheduleResponse', {
  handler: Type.String({ description: 'The name of the job.' }),
  due_at: nullable({
    ...Time,
    description:
      'Time of the next run; in the past while the job has nothing to do. While it is running: when another process may take it over.'
  }),
  is_running: Type.Boolean(),
  attempts: Type.Integer({ description: 'Attempts since the last successful run.' }),
  error: nullable(Type.String({ description: 'Why the latest attempt failed.' }))
})
export const EventHandlingSummaryResponse = response('EventHandlingSummaryResponse', {
  handlers: Type.Array(BacklogResponse, { description: 'Handlers with a backlog.' }),
  schedules: Type.Array(ScheduleResponse, { description: 'Recurring jobs.' })
})

const EventResponse = response('EventResponse', {
  id: EventId,
  handler: Type.String({
    description: 'A module and its event, such as `cart:catalog.changed`, or the name of a job.'
  }),
  event_id: Id,
  subject: Type.String({
    format: 'uuid',
    description:
      'Id of the object that the event is about. Later events of the same subject wait for this one.'
  }),
  payload: Type.Unsafe<unknown>({ type: 'object', additionalProperties: true }),
  attempts: Type.Integer({ description: 'Number of attempts.' }),
  error: nullable(Type.String({ description: 'Why the latest attempt failed.' })),
  since: { ...Time, description: 'Time when the event was emitted or the job enqueued.' },
  due_at: nullable({ ...Time, description: 'Time of the next attempt. Null: it is not retried.' })
})
export const AdminEventListResponse = listOf(EventResponse)
