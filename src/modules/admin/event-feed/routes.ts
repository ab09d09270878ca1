import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import type { EventLogReader } from '../../../platform/event-log/event-log.ts'
import { EVENT_FEED_LIMIT_DEFAULT, EventFeedQuery, EventFeedResponse } from './schema.ts'

export function eventFeedRoutes(tiers: Tiers, eventLog: EventLogReader): void {
  tiers.admin.get(
    '/admin/events/feed',
    {
      config: { class: 'account', anyScope: true, errors: ['gone'] },
      schema: {
        summary: 'List the event log',
        description:
          'Returns the events that webhooks may send, in the order of their positions, also when no webhook endpoint subscribes. Store `next_after` with the effects of a page, and send it as `after` for the next page. An administrator with scopes receives the events of those modules. 400 `EVENTS_CURSOR_AHEAD`: the position does not exist yet. 410 `EVENTS_CURSOR_EXPIRED`: events after this position were deleted (`events.retention_days`), or the shop was restored from a backup. In both cases empty the copy, read all objects again, and continue from `latest_position`.',
        querystring: EventFeedQuery,
        response: { 200: EventFeedResponse }
      }
    },
    async request => {
      const { after, limit = EVENT_FEED_LIMIT_DEFAULT } = request.query
      const { items, ...page } = await eventLog.read({ after, limit, modules: identityOf(request).scopes })
      return { items: items.map(({ event_id: id, ...event }) => ({ id, ...event })), ...page }
    }
  )
}
