import { found } from '../../../kernel/errors.ts'
import { newId } from '../../../kernel/ids.ts'
import { newestFirst, type Page, readPage } from '../../../kernel/pages.ts'
import type { EventPositionAndVersions } from '../../../platform/event-log/positions.ts'
import type { IdempotentWrite } from '../../../platform/idempotency/write.ts'
import type { Enqueue } from '../../../platform/outbox/outbox.ts'
import type { Database, Transaction } from '../../../platform/postgres/database.ts'
import { lockWebhookEndpoint } from '../endpoints/repository.ts'
import {
  webhookDeliveryNotFoundError,
  webhookEndpointInactiveError,
  webhookEndpointNotFoundError,
  webhookReplayTooLargeError
} from '../errors.ts'
import { sendDueWebhooksJob } from './jobs.ts'
import * as repository from './repository.ts'
import type {
  ReplayWebhooksRequest,
  WebhookDeliveryDetailsResponse,
  WebhookDeliveryQuery,
  WebhookDeliveryResponse
} from './schema.ts'

/** Type of test deliveries. It is not an event of the shop. */
const TEST_TYPE = 'webhook.test'
const REPLAY_MAX = 10_000
const ATTEMPTS_SHOWN = 100

/** Returns the body of a webhook. It is stored, so that every attempt sends the same bytes. */
export const webhookBodyJson = (
  event: { readonly type: string; readonly subject: string; readonly at: Date; readonly data: unknown },
  place?: EventPositionAndVersions
): string =>
  JSON.stringify({
    type: event.type,
    timestamp: event.at.toISOString(),
    position: place?.position ?? null,
    subject: event.subject,
    subject_version: place?.subject_version ?? null,
    payload_version: place?.payload_version ?? 1,
    data: event.data
  })

/** Lists, tests and replays deliveries. */
export function createWebhookDeliveryService({ db, enqueue }: { db: Database; enqueue: Enqueue }) {
  /** Enqueues a job for each endpoint that sends its due deliveries. */
  const enqueueSending = (tx: Transaction, endpointIds: readonly string[]): void => {
    for (const endpoint_id of new Set(endpointIds)) enqueue(tx, sendDueWebhooksJob, { endpoint_id })
  }

  /** @throws `WEBHOOKS_ENDPOINT_INACTIVE` */
  async function requireActive(tx: Transaction, id: string): Promise<void> {
    if (!(await tx.first(lockWebhookEndpoint, { id }))?.active) throw webhookEndpointInactiveError()
  }

  /** @throws `WEBHOOKS_DELIVERY_NOT_FOUND` */
  async function read(id: string): Promise<WebhookDeliveryDetailsResponse> {
    const { body, ...row } = found(
      await db.first(repository.findWebhookDelivery, { id }),
      webhookDeliveryNotFoundError
    )
    const attempts = await db.rows(repository.listWebhookDeliveryAttempts, {
      delivery_id: id,
      limit: ATTEMPTS_SHOWN
    })
    return { ...present(row), body, attempts }
  }

  return {
    enqueueSending,
    read,

    list: async ({
      endpoint_id,
      type,
      status,
      ...query
    }: WebhookDeliveryQuery): Promise<Page<WebhookDeliveryResponse>> => {
      const filters = {
        endpoint_id: endpoint_id ?? null,
        event_type: type ?? null,
        status: status ?? null
      }
      const page = await readPage(query, {
        ...newestFirst,
        name: 'webhook deliveries',
        filters,
        rows: place => db.rows(repository.listWebhookDeliveries, { ...filters, ...place }),
        total: () => db.first(repository.countWebhookDeliveries, filters)
      })
      return { ...page, items: page.items.map(present) }
    },

    /** Sends a `webhook.test` event to an endpoint. @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_INACTIVE` */
    test: async (endpoint_id: string, write: IdempotentWrite): Promise<WebhookDeliveryDetailsResponse> => {
      const { id } = write
      await write.once(db, async tx => {
        found(await tx.first(lockWebhookEndpoint, { id: endpoint_id }), webhookEndpointNotFoundError)
        await requireActive(tx, endpoint_id)
        const event_id = newId()
        const body = webhookBodyJson({
          type: TEST_TYPE,
          subject: endpoint_id,
          at: new Date(),
          data: { endpoint_id }
        })
        await tx.run(repository.insertWebhookDeliveries, {
          rows: [{ id, endpoint_id, event_id }],
          events: [{ event_id, event_type: TEST_TYPE, subject: endpoint_id, body }]
        })
        enqueueSending(tx, [endpoint_id])
      })
      return read(id)
    },

    /** @throws `WEBHOOKS_DELIVERY_NOT_FOUND`, `WEBHOOKS_ENDPOINT_INACTIVE` */
    replay: async (id: string, write: IdempotentWrite): Promise<WebhookDeliveryDetailsResponse> => {
      await write.once(db, async tx => {
        const { endpoint_id } = found(
          await tx.first(repository.findWebhookDelivery, { id }),
          webhookDeliveryNotFoundError
        )
        await requireActive(tx, endpoint_id)
        await tx.run(repository.replayWebhookDelivery, { id })
        enqueueSending(tx, [endpoint_id])
      })
      return read(id)
    },

    /** @throws `WEBHOOKS_ENDPOINT_NOT_FOUND`, `WEBHOOKS_ENDPOINT_INACTIVE`, `WEBHOOKS_REPLAY_TOO_LARGE` */
    replaySince: async (
      endpoint_id: string,
      { since, which = 'dead' }: ReplayWebhooksRequest,
      write: IdempotentWrite
    ): Promise<void> => {
      const selection = {
        endpoint_id,
        since: new Date(since),
        statuses: which === 'all' ? ['dead', 'delivered', 'superseded'] : ['dead']
      }
      await write.once(db, async tx => {
        found(await tx.first(lockWebhookEndpoint, { id: endpoint_id }), webhookEndpointNotFoundError)
        await requireActive(tx, endpoint_id)
        const { total } = found(
          await tx.first(repository.countReplayableWebhookDeliveries, selection),
          webhookEndpointNotFoundError
        )
        if (total > REPLAY_MAX)
          throw webhookReplayTooLargeError({ details: { limit: REPLAY_MAX, found: total } })
        await tx.run(repository.replayWebhookDeliveries, selection)
        enqueueSending(tx, [endpoint_id])
      })
    },

    cancelPending: async (tx: Transaction, endpoint_id: string): Promise<void> => {
      await tx.run(repository.cancelWebhookDeliveriesOfEndpoint, { endpoint_id })
    }
  }
}
export type WebhookDeliveryService = ReturnType<typeof createWebhookDeliveryService>

const present = ({ event_type: type, ...row }: repository.WebhookDeliveryRow): WebhookDeliveryResponse => ({
  ...row,
  type
})
