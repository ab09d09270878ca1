import type { EventType } from '../../kernel/events.ts'
import { defineModule } from '../../module.ts'
import { createChanges, keep } from '../../platform/kept.ts'
import { notificationsModule } from '../notifications/index.ts'
import { createDeliveryFigures } from './deliveries/figures.ts'
import { findDue, sendDue } from './deliveries/jobs.ts'
import { deleteOldDeliveries } from './deliveries/repository.ts'
import { deliveryRoutes } from './deliveries/routes.ts'
import { createDeliveryService } from './deliveries/service.ts'
import { forgetOldSecrets, listActive } from './endpoints/repository.ts'
import { endpointRoutes } from './endpoints/routes.ts'
import { createEndpointService } from './endpoints/service.ts'
import { endpointDisabled } from './events.ts'
import { createAudience, createHearing } from './hearing/service.ts'
import { hearSwitchedOff } from './hearing/switched-off.ts'
import { createRequest } from './sending/request.ts'
import { createSending } from './sending/service.ts'
import { webhooksSettings } from './settings.ts'
import { createSealing } from './signatures/sealing.ts'

const MEASURE_SECONDS = 15
const HOUR_SECONDS = 3_600

export { endpointDisabled } from './events.ts'

/** Beyond the request: for what is noted of it. */
const LEASE_BEYOND_SECONDS = 15

/** The events that leave the shop, of whatever module: all that say so of themselves. */
const isTold = ({ outside = 'never' }: EventType): boolean => outside !== 'never'

/** Tells others what happens, by signed requests (Standard Webhooks). */
export const webhooksModule = defineModule({
  name: 'webhooks',
  description: 'What happens, told to others by signed requests.',
  basePaths: ['/api/admin/webhooks'],
  settings: webhooksSettings,
  requires: {},
  uses: { notifications: notificationsModule },
  emits: [endpointDisabled],
  hears: [endpointDisabled],
  overhears: isTold,
  jobs: [sendDue, findDue],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: 'What others are told has ids, amounts and states, and goes after `kept_days`.',
  setup: async (
    { db, broadcast, http, secrets, enqueue, emit, log, chores, metrics, house },
    settings,
    { notifications }
  ) => {
    const told = house.events.filter(isTold)
    const changes = createChanges(broadcast, 'webhooks')
    const sealing = createSealing(secrets)
    const sent = metrics.counter('tries', 'Tries to send a webhook, by what became of them.', {
      result: ['delivered', 'failed', 'dead']
    })
    const deliveries = createDeliveryService({ db, enqueue })
    const endpoints = createEndpointService({
      ...{ db, changes, http, sealing, deliveries },
      endpointsMax: settings.endpoints_max,
      eventTypes: told.map(({ name }) => name)
    })
    const sending = createSending({
      ...{ db, log, emit, changes },
      send: createRequest({ http, sealing, timeoutMs: settings.timeout_seconds * 1_000 }),
      atOnce: settings.at_once,
      leaseSeconds: settings.timeout_seconds + LEASE_BEYOND_SECONDS,
      disableAfterDays: settings.disable_after_days,
      count: result => sent.add({ result })
    })
    const active = keep(changes, () => db.rows(listActive))
    const isAnybodyTold = createAudience(changes, active)
    const hear = createHearing({ endpoints: active, wake: deliveries.wake })
    chores.every(MEASURE_SECONDS, 'measure webhooks', createDeliveryFigures(metrics, db).measure)
    chores.sweep(HOUR_SECONDS, 'delete old webhooks', () =>
      db.run(deleteOldDeliveries, { days: settings.kept_days })
    )
    chores.sweep(HOUR_SECONDS, 'delete old secrets of webhooks', () => db.run(forgetOldSecrets))
    return {
      api: {},
      wants: name => name === endpointDisabled.name || isAnybodyTold(name),
      consumers: {
        ...Object.fromEntries(told.map(event => [event.name, hear(event)])),
        [endpointDisabled.name]: hearSwitchedOff(notifications)
      },
      handlers: {
        'webhooks.send_due': ({ payload }, signal) => sending.drain(payload.endpoint_id, signal),
        'webhooks.find_due': async () => {
          const due = await sending.listDue()
          if (due.length > 0) await db.transaction(async tx => deliveries.wake(tx, due))
        }
      },
      stop: sending.stop,
      routes: tiers => {
        endpointRoutes(tiers, endpoints)
        deliveryRoutes(tiers, deliveries)
      }
    }
  }
})
