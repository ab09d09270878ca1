import type { Delivery, PayloadOf } from '../../../kernel/events.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import type { NotificationsApi } from '../../notifications/index.ts'
import { findEndpoint } from '../endpoints/repository.ts'
import type { endpointDisabled } from '../events.ts'

type Event = Delivery<PayloadOf<typeof endpointDisabled>>

const ANSWER_LENGTH_MAX = 200

/** Tells those who look after the shop that it has switched an endpoint off; not when somebody has seen to it meanwhile. */
export const hearSwitchedOff =
  (notifications: Pick<NotificationsApi, 'tellStaff'> | undefined) =>
  async (tx: Transaction, events: readonly Event[]): Promise<void> => {
    for (const { id: origin, payload } of events) {
      const { endpoint_id: id, answer, ...said } = payload
      const endpoint = await tx.first(findEndpoint, { id })
      if (endpoint === undefined || endpoint.active) continue
      const { url, description } = endpoint
      // The rest of an address may be a secret.
      const data = {
        ...said,
        endpoint: { id, host: new URL(url).host, description },
        answer: (answer ?? '').slice(0, ANSWER_LENGTH_MAX)
      }
      await notifications?.tellStaff(tx, 'webhooks_off', [{ origin, data }])
    }
  }
