import type { EventType, JobDelivery } from '../../../kernel/events.ts'
import { newId } from '../../../kernel/ids.ts'
import type { CacheInvalidator } from '../../../platform/cached.ts'
import type { EventLogReader } from '../../../platform/event-log/event-log.ts'
import type { Transaction } from '../../../platform/postgres/database.ts'
import * as repository from '../deliveries/repository.ts'
import { type WebhookDeliveryService, webhookBodyJson } from '../deliveries/service.ts'

type EndpointFilter = { readonly id: string; readonly event_types: readonly string[] | null }
type Deps = {
  activeEndpoints: () => Promise<readonly EndpointFilter[]>
  enqueueSending: WebhookDeliveryService['enqueueSending']
  eventLog: Pick<EventLogReader, 'placesOf'>
}

/**
 * Returns a function that checks in memory whether an active endpoint subscribes to an event. It returns true
 * while the endpoints are not loaded. An endpoint that another process created is known within a second.
 */
export function createWebhookSubscriberCheck(
  { subscribe, isLive }: Pick<CacheInvalidator, 'subscribe' | 'isLive'>,
  activeEndpoints: () => Promise<readonly EndpointFilter[]>
): (event: string) => boolean {
  let known: readonly EndpointFilter[] | undefined
  let isLoading = false
  let generation = 0
  subscribe(() => {
    generation += 1
    known = undefined
  })
  const load = async () => {
    isLoading = true
    const before = generation
    const loaded = await activeEndpoints().catch(() => undefined)
    isLoading = false
    if (before === generation) known = loaded
  }
  return event => {
    if (known === undefined || !isLive()) {
      if (!isLoading) load()
      return true
    }
    return known.some(endpoint => isSubscribed(endpoint, event))
  }
}

const isSubscribed = ({ event_types }: EndpointFilter, event: string) =>
  event_types === null || event_types.includes(event)

/** Returns the handler of an event: it writes a delivery for each subscribed endpoint, within the handler's transaction. */
export const createWebhookEventHandler =
  ({ activeEndpoints, enqueueSending, eventLog }: Deps) =>
  ({ name, webhook }: EventType) =>
  async (tx: Transaction, events: readonly JobDelivery<unknown>[]): Promise<void> => {
    const subscribed = (await activeEndpoints()).filter(endpoint => isSubscribed(endpoint, name))
    if (subscribed.length === 0) return
    const places = await eventLog.placesOf(events.flatMap(({ logId }) => logId ?? []))
    const contents = events.map(({ id, subject, payload, since, logId }) => ({
      event_id: id,
      event_type: name,
      subject,
      body: webhookBodyJson(
        { type: name, subject, at: since, data: payload },
        logId === null ? undefined : places.get(logId)
      )
    }))
    const endpoint_ids = subscribed.map(({ id }) => id)
    const event_ids = contents.map(({ event_id }) => event_id)
    if (webhook === 'latest')
      await tx.run(repository.supersedeWebhookDeliveries, {
        endpoint_ids,
        event_ids,
        event_type: name,
        subjects: contents.map(({ subject }) => subject)
      })
    const rows = endpoint_ids.flatMap(endpoint_id =>
      event_ids.map(event_id => ({ id: newId(), endpoint_id, event_id }))
    )
    await tx.run(repository.insertWebhookDeliveries, { rows, events: contents })
    enqueueSending(tx, endpoint_ids)
  }
