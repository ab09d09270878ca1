import type { JobDelivery, PayloadOf } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { NotificationsApi } from '../../notifications/index.ts'
import { findWebhookEndpoint } from '../endpoints/repository.ts'
import type { endpointDisabledEvent } from '../events.ts'

type EndpointDisabled = JobDelivery<PayloadOf<typeof endpointDisabledEvent>>

const RESPONSE_LENGTH_MAX = 200

/** Queues a mail to staff about an endpoint that the shop disabled. Skips endpoints that were enabled or deleted meanwhile. */
export const createWebhookEndpointDisabledHandler =
  (notifications: Pick<NotificationsApi, 'notifyStaff'> | undefined) =>
  async (tx: Transaction, events: readonly EndpointDisabled[]): Promise<void> => {
    for (const { id: eventId, payload } of events) {
      const { endpoint_id: id, answer, ...details } = payload
      const endpoint = await tx.first(findWebhookEndpoint, { id })
      if (endpoint === undefined || endpoint.active) continue
      const { url, description } = endpoint
      // Only the host is mailed, because the path of a webhook URL may contain a secret.
      const data = {
        ...details,
        endpoint: { id, host: new URL(url).host, description },
        answer: (answer ?? '').slice(0, RESPONSE_LENGTH_MAX)
      }
      await notifications?.notifyStaff(tx, 'webhooks_off', [{ sourceId: eventId, data }])
    }
  }
