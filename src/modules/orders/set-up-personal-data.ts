import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { JobDelivery, PayloadOf } from '../../kernel/events.ts'
import type { ModulePlatform } from '../../module.ts'
import type { AuthApi } from '../auth/index.ts'
import type { OrderPayments } from '../payments/index.ts'
import type { ShippingApi } from '../shipping/index.ts'
import type { sendDataRequestLinkJob } from './jobs.ts'
import { dataRequestRoutes } from './personal-data/data-request-routes.ts'
import { createDataRequestService } from './personal-data/data-request-service.ts'
import { guestDataRoutes } from './personal-data/guest-data-routes.ts'
import { createGuestDataService } from './personal-data/guest-data-service.ts'
import { createOrderErasure, orderPersonalData } from './personal-data/service.ts'
import type { OrdersSettings } from './settings.ts'

const DELETE_SECONDS = 300

type Apis = {
  readonly auth: AuthApi | undefined
  readonly payments: OrderPayments | undefined
  readonly shipping: ShippingApi | undefined
}

/** Creates the services for the export and the erasure of personal data of customers and guests. */
export function setUpOrderPersonalDataServices(
  { db, timers, emit, enqueue, secrets, house }: ModulePlatform,
  settings: OrdersSettings,
  apis: Apis
) {
  const erasure = createOrderErasure(apis)
  const guestData = createGuestDataService({
    db,
    emit,
    personalData: house.personalData,
    lock: erasure.lockGuestOrders,
    retentionDays: settings.guest_data_days
  })
  const dataRequests = createDataRequestService({ db, emit, enqueue, secrets, guestData })
  timers.untilEmpty(DELETE_SECONDS, 'delete old requests of guests for their data', dataRequests.deleteOld)
  return {
    erase: erasure.erase,
    dataRequest: dataRequests.link,
    personalData: orderPersonalData(db, erasure),
    jobHandlers: {
      'orders.erase_old_guest_data': (_job: unknown, signal: AbortSignal) => guestData.eraseOld(signal),
      'orders.open_data_request': ({ id, payload }: JobDelivery<PayloadOf<typeof sendDataRequestLinkJob>>) =>
        dataRequests.open(id, payload)
    },
    routes: (tiers: Tiers): void => {
      guestDataRoutes(tiers, guestData)
      dataRequestRoutes(tiers, dataRequests)
    }
  }
}
