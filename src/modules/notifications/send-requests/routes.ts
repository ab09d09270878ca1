import { identityOf } from '../../../gateway/callers/identity.ts'
import type { Tiers } from '../../../gateway/routing/tiers.ts'
import { writeOf } from '../../../gateway/writes/write.ts'
import { PageQuery, withResponseDescription } from '../../../kernel/wire.ts'
import { NotificationListResponse, SendNotificationRequest, SendNotificationResponse } from './schema.ts'
import type { NotificationRequestService } from './service.ts'

const config = { class: 'account' } as const

export function notificationRequestRoutes(
  tiers: Tiers,
  sending: NotificationRequestService,
  perMinute: number
): void {
  tiers.secured.post(
    '/notifications/send',
    {
      config: { ...config, limit: { name: 'notification', perMinute } },
      schema: {
        summary: 'Send a notification',
        description:
          'Sends a notification about an order, or the welcome mail, to the verified address of the caller. Administrators with access to notifications can send to any address in `to`, about any order. 400 `NOTIFICATION_DATA_INVALID`: correct the ids in `data`. 404 `NOTIFICATION_ORDER_NOT_FOUND`: the order or shipment does not exist or belongs to another customer. 409 `NOTIFICATION_NOT_SENDABLE`: use one of `templates`. 409 `NOTIFICATION_NOT_SO`: the order has another status. 409 `NOTIFICATION_RECIPIENT_UNVERIFIED`: verify the address first.',
        body: SendNotificationRequest,
        response: {
          202: withResponseDescription(
            SendNotificationResponse,
            'The notification is queued. A job sends it shortly after.'
          )
        }
      }
    },
    request => sending.send(identityOf(request), request.body, writeOf(request))
  )
  tiers.secured.get(
    '/notifications',
    {
      config,
      schema: {
        summary: 'List your notifications',
        description:
          'Returns the notifications to the account of the caller, newest first, with their status. The content is not included. Notifications are deleted after `notifications.retention_days`.',
        querystring: PageQuery,
        response: { 200: NotificationListResponse }
      }
    },
    request => sending.list(identityOf(request).userId, request.query)
  )
}
