import { lowestIdAt } from '../../kernel/ids.ts'
import { keptForDays } from '../../kernel/retention.ts'
import { defineModule } from '../../module.ts'
import { createCacheInvalidator } from '../../platform/cached.ts'
import {
  apiKeyCreatedEvent,
  authModule,
  emailChangedEvent,
  passwordChangedEvent,
  passwordResetRequestedEvent,
  secondFactorChangedEvent,
  userRegisteredEvent,
  verificationRequestedEvent
} from '../auth/index.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule, stockCrossedEvent } from '../inventory/index.ts'
import {
  dataRequestedEvent,
  orderCanceledEvent,
  orderEvictedEvent,
  orderPlacedEvent,
  orderShippedEvent,
  ordersModule,
  unpaidStockHighEvent
} from '../orders/index.ts'
import { paymentPaidEvent, paymentRefundedEvent, paymentsModule } from '../payments/index.ts'
import { shipmentDeliveredEvent, shippingModule } from '../shipping/index.ts'
import { createMailContentRenderer } from './delivery/content.ts'
import { createNotificationSender } from './delivery/service.ts'
import { createStorefrontLinks } from './delivery/storefront-links.ts'
import { createUnstoredMailSender, type SendUnstoredMail } from './delivery/unstored.ts'
import { createDevMailbox, type DevMailbox } from './dev-mailbox/service.ts'
import { diagnoseMailServer } from './diagnosis.ts'
import { notificationAdministrationRoutes } from './message-administration/routes.ts'
import { createNotificationAdministration } from './message-administration/service.ts'
import { sendNotificationJob } from './messages/job.ts'
import { createNotificationMetrics } from './messages/metrics.ts'
import { deleteOldNotifications } from './messages/repository.ts'
import { createNotificationQueue } from './messages/service.ts'
import { createStaffMailQueue, type StaffMailQueue } from './messages/staff-mails.ts'
import { notificationPersonalData } from './personal-data/service.ts'
import { notificationRequestRoutes } from './send-requests/routes.ts'
import { createNotificationRequestService } from './send-requests/service.ts'
import { notificationsSettings } from './settings.ts'
import { createAccountMailSubscriber } from './subscribers/accounts.ts'
import { createGuestDataRequestMailSubscriber } from './subscribers/data-requests.ts'
import { createOrderMailFilter, createOrderMailSubscriber } from './subscribers/orders.ts'
import { createStockMailSubscriber } from './subscribers/stock.ts'
import { suppressionRoutes } from './suppressions/routes.ts'
import { createSuppressionList } from './suppressions/service.ts'
import { mailTemplateRoutes } from './template-administration/routes.ts'
import { createMailTemplateAdministration } from './template-administration/service.ts'
import { createMailTemplateRenderer } from './templates/renderer.ts'
import { createMailTemplateFinder } from './templates/service.ts'
import { createOwnTransports, transportNameOf } from './transport/own-transports.ts'
import { notificationTransportPort } from './transport/port.ts'
import { createMailSender } from './transport/send-mail.ts'
import { unsubscribeRoutes } from './unsubscribe/routes.ts'
import { createUnsubscribeService } from './unsubscribe/service.ts'
import { validateNotificationSettings } from './validation.ts'

export {
  type NotificationTransport,
  notificationTransportPort,
  type OutgoingMessage
} from './transport/port.ts'
export { MailSendError } from './transport/transport.ts'

const HOUR_SECONDS = 3_600
const MINUTE_SECONDS = 60
const MEASURE_SECONDS = 15

/** API of notifications for other modules. */
export type NotificationsApi = {
  /**
   * Mails stored for /mails in development. `undefined` when the shop really sends mails.
   * @example
   * const mails = await notifications.devMailbox?.list('ada@example.com')
   * assert.deepEqual(mails, [])
   */
  readonly devMailbox: Pick<DevMailbox, 'list' | 'find'> | undefined
  /**
   * Queues a mail to every address of `notifications.staff`, in the caller's transaction.
   * @example
   * const data = { url: 'https://example.com/hooks', reason: 'failures' }
   * await db.transaction(tx => notifications.notifyStaff(tx, 'webhooks_off', [{ sourceId: newId(), data }]))
   */
  readonly notifyStaff: StaffMailQueue['notify']
  /**
   * Sends a mail at once and stores nothing of it, for content that must not be stored, such as the code of a gift card. Call
   * it from a job, outside a transaction; a retry of the job sends the mail again with the same Message-ID. Returns false
   * when the address is invalid or suppressed. @throws MailSendError when the mail server does not accept the mail
   * @example
   * const to = { email: 'bob@example.com', name: 'Bob' }
   * const mail = { id: newId(), kind: 'gift_cards.code', to, subject: 'Your gift card', text: 'The code is 7K2M.' }
   * assert.equal(await notifications.send(mail), true)
   */
  readonly send: SendUnstoredMail
}

/** Mails to customers, guests and staff. */
export const notificationsModule = defineModule({
  name: 'notifications',
  description: 'Mails to customers and staff.',
  basePaths: ['/api/notifications', '/api/admin/notifications'],
  settings: notificationsSettings,
  validate: validateNotificationSettings,
  diagnose: diagnoseMailServer,
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
    userRegisteredEvent,
    verificationRequestedEvent,
    passwordResetRequestedEvent,
    passwordChangedEvent,
    apiKeyCreatedEvent,
    secondFactorChangedEvent,
    emailChangedEvent,
    stockCrossedEvent,
    orderPlacedEvent,
    orderShippedEvent,
    orderCanceledEvent,
    orderEvictedEvent,
    paymentPaidEvent,
    paymentRefundedEvent,
    shipmentDeliveredEvent,
    unpaidStockHighEvent,
    dataRequestedEvent
  ],
  jobs: [sendNotificationJob],
  ports: [notificationTransportPort],
  provides: [notificationTransportPort],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async (
    { config, db, broadcast, timers, enqueue, log, metrics, secrets, ports },
    settings,
    { auth, catalog, orders, shipping }
  ) => {
    const { locale } = settings
    const giveUpSeconds = settings.give_up_hours * HOUR_SECONDS
    const links = createStorefrontLinks(config, settings)
    const mailbox = createDevMailbox({ db, mailsMax: settings.mailbox_max })
    const transportName = transportNameOf({ config, settings })
    if (transportName === 'log')
      log.warn('notifications.smtp.url is not set: mails are not sent; each is only named in the log')
    const own = createOwnTransports({ config, settings, log, saveInMailbox: mailbox.save })
    const mailSender = createMailSender({ ports, name: transportName, shopName: config.shop.name, settings })
    const renderer = createMailTemplateRenderer({ timeZone: config.shop.time_zone })
    const templatesInvalidation = createCacheInvalidator(broadcast, 'notifications.templates')
    const templates = createMailTemplateFinder({ db, locale, invalidation: templatesInvalidation })
    const suppressions = createSuppressionList({ db, secrets, bouncesMax: settings.suppress_after })
    const unsubscribe = createUnsubscribeService({ db, secrets, config, suppressions })
    const mails = metrics.counter('mails', 'Attempts to send a mail, by result.', {
      result: ['sent', 'failed', 'dead', 'suppressed', 'skipped']
    })
    const { name: shopName } = config.shop
    const renderContent = createMailContentRenderer({
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
    const sendDueMessage = createNotificationSender({
      db,
      log,
      enqueue,
      mails: mailSender,
      suppressions,
      renderContent,
      count: result => mails.add({ result })
    })
    const { queue: queueNotifications, queueOrSend } = createNotificationQueue({
      enqueue,
      send: sendDueMessage,
      locale,
      giveUpSeconds
    })
    const isEnabled = (template: string) => !settings.off.some(off => off === template)
    const staff = createStaffMailQueue({ queueNotifications, isEnabled, addresses: settings.staff })

    timers.every(MEASURE_SECONDS, 'measure messages', createNotificationMetrics(metrics, db).measure)
    timers.untilEmpty(HOUR_SECONDS, 'delete old messages', () =>
      db.run(deleteOldNotifications, {
        before: lowestIdAt(keptForDays(settings.retention_days)(new Date()))
      })
    )
    if (transportName === 'mailbox')
      timers.untilEmpty(MINUTE_SECONDS, 'delete old mails of the mailbox', mailbox.deleteOld)
    const api: NotificationsApi = {
      devMailbox: transportName === 'mailbox' ? mailbox : undefined,
      notifyStaff: staff.notify,
      send: createUnstoredMailSender({ mails: mailSender, suppressions })
    }
    return {
      api,
      provides: own.providers,
      personalData: notificationPersonalData(db),
      findStartProblems: async () => mailSender.findProblems(),
      routes: tiers => {
        const sendRequests = createNotificationRequestService({ db, queueNotifications, auth, orders })
        notificationRequestRoutes(tiers, sendRequests, settings.sends_per_minute)
        unsubscribeRoutes(tiers, unsubscribe)
        mailTemplateRoutes(
          tiers,
          createMailTemplateAdministration({
            db,
            renderer,
            templates,
            shopName,
            locale,
            invalidation: templatesInvalidation
          })
        )
        suppressionRoutes(tiers, suppressions)
        notificationAdministrationRoutes(
          tiers,
          createNotificationAdministration({ db, enqueue, giveUpSeconds })
        )
      },
      isWanted: createOrderMailFilter(isEnabled),
      eventHandlers: {
        ...createAccountMailSubscriber({ auth, queueOrSend, isEnabled }),
        ...createStockMailSubscriber({ catalog, staff }),
        ...createGuestDataRequestMailSubscriber({ orders, queueOrSend, isEnabled }),
        ...createOrderMailSubscriber({ auth, orders, shipping, queueOrSend, isEnabled })
      },
      jobHandlers: { 'notifications.send_message': ({ payload }) => sendDueMessage(payload) },
      stop: async () => {
        await Promise.all([renderer.close(), own.close()])
      }
    }
  }
})
