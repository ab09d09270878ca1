import { isWebhookEvent } from '../../kernel/events.ts'
import { defineModule } from '../../module.ts'
import { createCachedReader, createCacheInvalidator } from '../../platform/cached.ts'
import { notificationsModule } from '../notifications/index.ts'
import { findDueWebhooksJob, sendDueWebhooksJob } from './deliveries/jobs.ts'
import { createWebhookMetrics } from './deliveries/metrics.ts'
import { deleteOldWebhookDeliveries } from './deliveries/repository.ts'
import { webhookDeliveryRoutes } from './deliveries/routes.ts'
import { createWebhookDeliveryService } from './deliveries/service.ts'
import { deleteExpiredWebhookSigningSecrets, listActiveWebhookEndpoints } from './endpoints/repository.ts'
import { webhookEndpointRoutes } from './endpoints/routes.ts'
import { createWebhookEndpointService } from './endpoints/service.ts'
import { endpointDisabledEvent } from './events.ts'
import { createWebhookRequestSender } from './sender/http-request.ts'
import { createWebhookDeliverySender } from './sender/service.ts'
import { webhooksSettings } from './settings.ts'
import { createWebhookSecretEncryption } from './signatures/secret-encryption.ts'
import { createWebhookEndpointDisabledHandler } from './subscribers/endpoint-disabled.ts'
import { createWebhookEventHandler, createWebhookSubscriberCheck } from './subscribers/event-deliveries.ts'

const MEASURE_SECONDS = 15
const HOUR_SECONDS = 3_600

export { endpointDisabledEvent } from './events.ts'

/** Lease time beyond the timeout of the request, to store its outcome. */
const LEASE_MARGIN_SECONDS = 15

/** Sends events of the shop to other systems by signed requests (Standard Webhooks). */
export const webhooksModule = defineModule({
  name: 'webhooks',
  description: 'Webhooks: signed requests to other systems when events happen.',
  basePaths: ['/api/admin/webhooks'],
  settings: webhooksSettings,
  requires: {},
  uses: { notifications: notificationsModule },
  emits: [endpointDisabledEvent],
  subscribes: [endpointDisabledEvent],
  subscribesTo: isWebhookEvent,
  jobs: [sendDueWebhooksJob, findDueWebhooksJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'Deliveries contain ids, amounts and states, and are deleted after `retention_days`.',
  setup: async (
    { db, broadcast, http, secrets, enqueue, emit, eventLog, log, timers, metrics, house },
    settings,
    { notifications }
  ) => {
    const sentEvents = house.events.filter(isWebhookEvent)
    const invalidation = createCacheInvalidator(broadcast, 'webhooks')
    const secretEncryption = createWebhookSecretEncryption(secrets)
    const attempts = metrics.counter('tries', 'Attempts to send a webhook, by result.', {
      result: ['delivered', 'failed', 'dead']
    })
    const deliveries = createWebhookDeliveryService({ db, enqueue })
    const endpoints = createWebhookEndpointService({
      db,
      invalidation,
      http,
      secretEncryption,
      deliveries,
      endpointsMax: settings.endpoints_max,
      eventTypes: sentEvents.map(({ name }) => name)
    })
    const sender = createWebhookDeliverySender({
      db,
      log,
      emit,
      invalidation,
      sendRequest: createWebhookRequestSender({
        http,
        secretEncryption,
        timeoutMs: settings.timeout_seconds * 1_000
      }),
      concurrency: settings.concurrency,
      leaseSeconds: settings.timeout_seconds + LEASE_MARGIN_SECONDS,
      disableAfterDays: settings.disable_after_days,
      count: result => attempts.add({ result })
    })
    const activeEndpoints = createCachedReader(invalidation, () => db.rows(listActiveWebhookEndpoints))
    const hasSubscriber = createWebhookSubscriberCheck(invalidation, activeEndpoints)
    const handlerOf = createWebhookEventHandler({
      activeEndpoints,
      enqueueSending: deliveries.enqueueSending,
      eventLog
    })
    timers.every(MEASURE_SECONDS, 'measure webhooks', createWebhookMetrics(metrics, db).measure)
    timers.untilEmpty(HOUR_SECONDS, 'delete old webhooks', () =>
      db.run(deleteOldWebhookDeliveries, { days: settings.retention_days })
    )
    timers.untilEmpty(HOUR_SECONDS, 'delete old secrets of webhooks', () =>
      db.run(deleteExpiredWebhookSigningSecrets)
    )
    return {
      api: {},
      isWanted: name => name === endpointDisabledEvent.name || hasSubscriber(name),
      eventHandlers: {
        ...Object.fromEntries(sentEvents.map(event => [event.name, handlerOf(event)])),
        [endpointDisabledEvent.name]: createWebhookEndpointDisabledHandler(notifications)
      },
      jobHandlers: {
        'webhooks.send_due': ({ payload }, signal) => sender.sendDue(payload.endpoint_id, signal),
        'webhooks.find_due': async () => {
          const due = await sender.listDueEndpoints()
          if (due.length > 0) await db.transaction(async tx => deliveries.enqueueSending(tx, due))
        }
      },
      hasWork: { 'webhooks.find_due': async () => (await sender.listDueEndpoints()).length > 0 },
      stop: sender.stop,
      routes: tiers => {
        webhookEndpointRoutes(tiers, endpoints)
        webhookDeliveryRoutes(tiers, deliveries)
      }
    }
  }
})
