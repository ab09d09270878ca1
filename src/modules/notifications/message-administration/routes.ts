import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { IdParams } from '../../../kernel/wire.ts'
import { AdminNotificationListResponse, AdminNotificationResponse, NotificationListQuery } from './schema.ts'
import type { NotificationAdministration } from './service.ts'

const config = { class: 'account' } as const
const byId = { params: IdParams, response: { 200: AdminNotificationResponse } }

export function notificationAdministrationRoutes(tiers: Tiers, messages: NotificationAdministration): void {
  tiers.admin.get(
    '/admin/notifications',
    {
      config,
      schema: {
        summary: 'List notifications',
        description:
          'Returns the notifications to all recipients, newest first, with attempts and the latest error. Filter by `status=dead` to find those that were not delivered. Sent, canceled and dead notifications are deleted after `notifications.retention_days`.',
        querystring: NotificationListQuery,
        response: { 200: AdminNotificationListResponse }
      }
    },
    request => messages.list(request.query)
  )
  tiers.admin.get(
    '/admin/notifications/:id',
    {
      config,
      schema: {
        ...byId,
        summary: 'Retrieve a notification',
        description:
          'Returns a notification with the variables of its template. Tokens of links are not stored and never returned. 404 `NOTIFICATION_NOT_FOUND`: it does not exist, or was deleted because of its age.'
      }
    },
    request => messages.read(request.params.id)
  )
  tiers.admin.post(
    '/admin/notifications/:id/retry',
    {
      config,
      schema: {
        ...byId,
        summary: 'Retry a notification',
        description:
          'Sends a `dead` or `pending` notification now, and retries it for `notifications.give_up_hours` when that fails. Correct the cause in `error` first. 404 `NOTIFICATION_NOT_FOUND`: it does not exist. 409 `NOTIFICATION_STATUS_FORBIDS`: it has another status, which `message_status` names.'
      }
    },
    request => messages.retry(request.params.id, writeOf(request))
  )
  tiers.admin.post(
    '/admin/notifications/:id/cancel',
    {
      config,
      schema: {
        ...byId,
        summary: 'Cancel a notification',
        description:
          'Stops the attempts to send a `pending` notification. A mail that is being sent at this moment may still arrive. 404 `NOTIFICATION_NOT_FOUND`: it does not exist. 409 `NOTIFICATION_STATUS_FORBIDS`: it has another status, which `message_status` names.'
      }
    },
    request => messages.cancel(request.params.id, writeOf(request))
  )
}
