import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { noContent } from '../../../kernel/wire.ts'
import {
  DeadEventsResponse,
  DeliveryParams,
  DiscardEventRequest,
  DiscardEventsRequest,
  EventListResponse,
  EventQuery,
  EventSummaryResponse,
  RetryEventsRequest
} from './schema.ts'
import type { EventService } from './service.ts'

const config = { class: 'account' } as const

export function eventRoutes(tiers: Tiers, events: EventService): void {
  tiers.admin.get(
    '/admin/events',
    {
      config,
      schema: {
        summary: 'Events and jobs that wait, fail or are dead, the oldest first',
        querystring: EventQuery,
        response: { 200: EventListResponse }
      }
    },
    request => events.list(request.query)
  )

  tiers.admin.get(
    '/admin/events/summary',
    {
      config,
      schema: {
        summary: 'What waits, fails and is dead by who handles it, and what is done again and again',
        response: { 200: EventSummaryResponse }
      }
    },
    () => events.summary()
  )

  tiers.admin.post(
    '/admin/events/retry',
    {
      config,
      schema: {
        summary: 'Try events again that are dead, 1,000 at a time',
        body: RetryEventsRequest,
        response: { 200: DeadEventsResponse }
      }
    },
    request => events.retryDead(request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/events/discard',
    {
      config,
      schema: {
        summary: 'Give events up that are dead, 1,000 at a time',
        body: DiscardEventsRequest,
        response: { 200: DeadEventsResponse }
      }
    },
    request => events.discardDead(request.body, writeOf(request))
  )

  tiers.admin.post(
    '/admin/events/:id/retry',
    {
      config,
      schema: { summary: 'Try a failed event again now', params: DeliveryParams, response: noContent }
    },
    request => events.retry(request.params.id, writeOf(request))
  )

  tiers.admin.post(
    '/admin/events/:id/discard',
    {
      config,
      schema: {
        summary: 'Give an event up: its effect never happens',
        params: DeliveryParams,
        body: DiscardEventRequest,
        response: noContent
      }
    },
    request => events.discard(request.params.id, request.body.reason, writeOf(request))
  )
}
