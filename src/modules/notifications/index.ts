import { defineModule } from '../../module.ts'
import {
  apiKeyCreated,
  authModule,
  emailChanged,
  passwordChanged,
  passwordResetRequested,
  secondFactorChanged,
  userRegistered,
  verificationRequested
} from '../auth/index.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule, stockCrossed } from '../inventory/index.ts'
import {
  dataRequested,
  orderCanceled,
  orderEvicted,
  orderPlaced,
  orderShipped,
  ordersModule,
  unpaidStockHigh
} from '../orders/index.ts'
import { paymentPaid, paymentRefunded, paymentsModule } from '../payments/index.ts'
import { shipmentDelivered, shippingModule } from '../shipping/index.ts'
import { createContentRenderer } from './delivery/content.ts'
import { createMessageSender } from './delivery/service.ts'
import { createStorefrontLinks } from './delivery/storefront-links.ts'
import { createDevMailbox, type DevMailbox } from './dev-mailbox/service.ts'
import { diagnoseNotifications } from './diagnosis.ts'
import { messageRoutes } from './message-administration/routes.ts'
import { createMessageAdministration } from './message-administration/service.ts'
import { sendMessage } from './messages/job.ts'
import { createMessageMetrics } from './messages/metrics.ts'
import { deleteOldMessages } from './messages/repository.ts'
import { createMessageQueue } from './messages/service.ts'
import { createStaffMails, type StaffMails } from './messages/staff-mails.ts'
import { messagePersonalData } from './personal-data/service.ts'
import { sendRequestRoutes } from './send-requests/routes.ts'
import { createSendRequestService } from './send-requests/service.ts'
import { notificationsSettings } from './settings.ts'
import { createAccountSubscriber } from './subscribers/accounts.ts'
import { createDataRequestSubscriber } from './subscribers/data-requests.ts'
import { createOrderSubscriber } from './subscribers/orders.ts'
import { createStockSubscriber } from './subscribers/stock.ts'
import { suppressionRoutes } from './suppressions/routes.ts'
import { createSuppressions } from './suppressions/service.ts'
import { templateRoutes } from './template-administration/routes.ts'
import { createTemplateAdministration } from './template-administration/service.ts'
import { createRenderer } from './templates/renderer.ts'
import { createTemplates } from './templates/service.ts'
import { selectTransport } from './transport/select-transport.ts'
import { unsubscribeRoutes } from './unsubscribe/routes.ts'
import { createUnsubscribe } from './unsubscribe/service.ts'
import { validateNotifications } from './validation.ts'

const HOUR_SECONDS = 3_600
const MINUTE_SECONDS = 60
const MEASURE_SECONDS = 15

/** API of notifications for other modules. */
export type NotificationsApi = {
  /** Mails stored for /mails in development. `undefined` when the shop really sends mails. */
  readonly devMailbox: Pick<DevMailbox, 'list' | 'find'> | undefined
  /** Queues a mail to every address of `notifications.staff`, in the caller's transaction. */
  readonly notifyStaff: StaffMails['notify']
}

/** Mails to customers, guests and staff. */
export const notificationsModule = defineModule({
  name: 'notifications',
  description: 'Mails to customers and staff.',
  basePaths: ['/api/notifications', '/api/admin/notifications'],
  settings: notificationsSettings,
  validate: validateNotifications,
  diagnose: diagnoseNotifications,
  requires: {},
  uses: {
    auth: authModule,
    inventory: inventoryModule,
    payments: paymentsModule,
    catalog: catalogModule,
    shipping: shippingModule,
    orders: ordersModule
  },
  subscribes: [
    userRegistered,
    verificationRequested,
    passwordResetRequested,
    passwordChanged,
    apiKeyCreated,
    secondFactorChanged,
    emailChanged,
    stockCrossed,
    orderPlaced,
    orderShipped,
    orderCanceled,
    orderEvicted,
    paymentPaid,
    paymentRefunded,
    shipmentDelivered,
    unpaidStockHigh,
    dataRequested
  ],
  jobs: [sendMessage],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async (
    { config, db, timers, enqueue, log, metrics, secrets },
    settings,
    { auth, catalog, orders, shipping }
  ) => {
    const { locale, retention_days: days } = settings
    const giveUpSeconds = settings.give_up_hours * HOUR_SECONDS
    const links = createStorefrontLinks(config, settings)
    const mailbox = createDevMailbox({ db, mailsMax: settings.mailbox_max })
    const { transport, domain } = selectTransport({ config, settings, log, saveInMailbox: mailbox.save })
    const renderer = createRenderer({ timeZone: config.shop.time_zone })
    const templates = createTemplates({ db, locale })
    const suppressions = createSuppressions({ db, secrets, bouncesMax: settings.suppress_after })
    const unsubscribe = createUnsubscribe({ db, secrets, config, suppressions })
    const mails = metrics.counter('mails', 'Attempts to send a mail, by result.', {
      result: ['sent', 'failed', 'dead', 'suppressed', 'skipped']
    })
    const { name: shopName } = config.shop
    const renderContent = createContentRenderer({
      db,
      log,
      renderer,
      templates,
      links,
      shopName,
      auth,
      orders,
      unsubscribeLink: unsubscribe.linkFor
    })
    const sendDueMessage = createMessageSender({
      db,
      log,
      enqueue,
      transport,
      domain,
      suppressions,
      renderContent,
      count: result => mails.add({ result })
    })
    const queueMessages = createMessageQueue({ enqueue, locale, giveUpSeconds })
    const isEnabled = (template: string) => !settings.off.some(off => off === template)
    const staff = createStaffMails({ queueMessages, isEnabled, addresses: settings.staff })

    timers.every(MEASURE_SECONDS, 'measure messages', createMessageMetrics(metrics, db).measure)
    timers.untilEmpty(HOUR_SECONDS, 'delete old messages', () => db.run(deleteOldMessages, { days }))
    if (transport.name === 'mailbox')
      timers.untilEmpty(MINUTE_SECONDS, 'delete old mails of the mailbox', mailbox.deleteOld)
    const api: NotificationsApi = {
      devMailbox: transport.name === 'mailbox' ? mailbox : undefined,
      notifyStaff: staff.notify
    }
    return {
      api,
      personalData: messagePersonalData(db),
      routes: tiers => {
        const sendRequests = createSendRequestService({ db, queueMessages, auth, orders })
        sendRequestRoutes(tiers, sendRequests, settings.sends_per_minute)
        unsubscribeRoutes(tiers, unsubscribe)
        templateRoutes(tiers, createTemplateAdministration({ db, renderer, templates, shopName, locale }))
        suppressionRoutes(tiers, suppressions)
        messageRoutes(tiers, createMessageAdministration({ db, enqueue, giveUpSeconds }))
      },
      eventHandlers: {
        ...createAccountSubscriber({ auth, queueMessages, isEnabled }),
        ...createStockSubscriber({ catalog, staff }),
        ...createDataRequestSubscriber({ orders, queueMessages, isEnabled }),
        ...createOrderSubscriber({ auth, orders, shipping, queueMessages, isEnabled })
      },
      jobHandlers: { 'notifications.send_message': job => sendDueMessage(job) },
      stop: async () => {
        await Promise.all([renderer.close(), transport.close()])
      }
    }
  }
})
