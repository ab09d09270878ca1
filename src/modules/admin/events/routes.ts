import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import {
  AdminEventListResponse,
  DeadEventsLeftResponse,
  DiscardEventRequest,
  DiscardEventsRequest,
  EventHandlingSummaryResponse,
  EventIdParams,
  EventListQuery,
  RetryEventsRequest
} from './schema.ts'
import type { EventAdministration } from './service.ts'

const config = { class: 'account' } as const

export function eventAdministrationRoutes(tiers: Tiers, events: EventAdministration): void {
  tiers.admin.get(
    '/admin/events',
    {
      config,
      schema: {
        summary: 'List events and jobs',
        description:
          'Returns the events and jobs of one state, oldest first. Default: `state=dead`, those that failed 10 times and are not retried. `error` shows why the latest attempt failed.',
        querystring: EventListQuery,
        response: { 200: AdminEventListResponse }
      }
    },
    request => events.list(request.query)
  )

  tiers.admin.get(
    '/admin/events/summary',
    {
      config,
      schema: {
        summary: 'Retrieve a summary of the backlog',
        description:
          'Returns the number of pending, failing and dead events and jobs of each handler with a backlog. Also returns the recurring jobs with the time of their next run.',
        response: { 200: EventHandlingSummaryResponse }
      }
    },
    () => events.summary()
  )

  tiers.admin.post(
    '/admin/events/retry',
    {
      config,
      schema: {
        summary: 'Retry dead events and jobs',
        description:
          'Makes up to 1,000 dead events and jobs due now, those of one handler or of all. Correct the cause first. Each gets 10 new attempts. `left` is the number of dead ones that remain; repeat the request until it is 0.',
        body: RetryEventsRequest,
        response: { 200: DeadEventsLeftResponse }
      }
    },
    request => events.retryDead(request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/events/discard',
    {
      config,
      schema: {
        summary: 'Discard dead events and jobs',
        description:
          'Deletes up to 1,000 dead events and jobs, those of one handler or of all. Their effect never happens, and later events of the same subjects continue. `reason` is written to the log. `left` is the number of dead ones that remain; repeat the request until it is 0.',
        body: DiscardEventsRequest,
        response: { 200: DeadEventsLeftResponse }
      }
    },
    request => events.discardDead(request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/events/:id/retry',
    {
      config,
      schema: {
        summary: 'Retry an event',
        description:
          'Makes a failing or dead event or job due now, with 10 new attempts. Correct the cause in `error` first. 404 `ADMIN_EVENT_NOT_FOUND`: it was handled in the meantime, or is running now.',
        params: EventIdParams,
        response: noContent
      }
    },
    request => events.retry(request.params.id, writeOf(request))
  )

  tiers.admin.post(
    '/admin/events/:id/discard',
    {
      config,
      schema: {
        summary: 'Discard an event',
        description:
          'Deletes a failing or dead event or job. Its effect never happens, and later events of the same subject continue. `reason` is written to the log. 404 `ADMIN_EVENT_NOT_FOUND`: it was handled in the meantime, or is running now.',
        params: EventIdParams,
        body: DiscardEventRequest,
        response: noContent
      }
    },
    request => events.discard(request.params.id, request.body.reason, writeOf(request))
  )
}
