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
import { messageRoutes } from './administration/routes.ts'
import { createMessageAdministration } from './administration/service.ts'
import { createContent } from './delivery/content.ts'
import { createDelivery } from './delivery/service.ts'
import { diagnoseNotifications } from './diagnosis.ts'
import { messagesOfPeople } from './erasure/service.ts'
import { createAccountHearing } from './hearing/accounts.ts'
import { createGuestHearing } from './hearing/guests.ts'
import { createOrderHearing } from './hearing/orders.ts'
import { createStockHearing } from './hearing/stock.ts'
import { createLinks } from './links/service.ts'
import { createMailbox, type MailboxService } from './mailbox/service.ts'
import { createMessageFigures } from './messages/figures.ts'
import { sendMessage } from './messages/job.ts'
import { deleteOldMessages } from './messages/repository.ts'
import { createMessages } from './messages/service.ts'
import { createStaff, type Staff } from './messages/staff.ts'
import { sendingRoutes } from './sending/routes.ts'
import { createSending } from './sending/service.ts'
import { notificationsSettings } from './settings.ts'
import { suppressionRoutes } from './suppressions/routes.ts'
import { createSuppressions } from './suppressions/service.ts'
import { templateRoutes } from './template-changes/routes.ts'
import { createTemplateChanges } from './template-changes/service.ts'
import { createRenderer } from './templates/renderer.ts'
import { createTemplates } from './templates/service.ts'
import { openTransport } from './transport/open.ts'
import { unsubscribeRoutes } from './unsubscribe/routes.ts'
import { createUnsubscribe } from './unsubscribe/service.ts'
import { validateNotifications } from './validation.ts'

const HOUR_SECONDS = 3_600
const MINUTE_SECONDS = 60
const MEASURE_SECONDS = 15

/** What other parts of the shop may ask of notifications. */
export type NotificationsApi = {
  /** The mails of a shop in development; `undefined` where mails are sent. */
  readonly mailbox: Pick<MailboxService, 'list' | 'find'> | undefined
  /** Tells those who look after the shop (`notifications.staff`), in the transaction of what they are told. */
  readonly tellStaff: Staff['tell']
}

/** What customers, and those who look after the shop, are told. */
export const notificationsModule = defineModule({
  name: 'notifications',
  description: 'Mails to customers and to those who look after the shop.',
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
  hears: [
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
  keepsOfPeople: true,
  setup: async (
    { config, db, chores, enqueue, log, metrics, secrets },
    settings,
    { auth, catalog, orders, shipping }
  ) => {
    const { locale, kept_days: days } = settings
    const giveUpSeconds = settings.give_up_hours * HOUR_SECONDS
    const links = createLinks(config, settings)
    const mailbox = createMailbox({ db, mailsMax: settings.mailbox_max })
    const { transport, domain } = openTransport({ config, settings, log, keep: mailbox.keep })
    const renderer = createRenderer({ timeZone: config.shop.time_zone })
    const templates = createTemplates({ db, locale })
    const suppressions = createSuppressions({ db, secrets, bouncesMax: settings.suppress_after })
    const unsubscribe = createUnsubscribe({ db, secrets, config, suppressions })
    const mails = metrics.counter('mails', 'Tries to send a mail, by what became of them.', {
      result: ['sent', 'failed', 'dead', 'suppressed', 'skipped']
    })
    const { name: shopName } = config.shop
    const content = createContent({
      ...{ db, log, renderer, templates, links, shopName, auth, orders },
      unsubscribeLink: unsubscribe.linkFor
    })
    const send = createDelivery({
      ...{ db, log, enqueue, transport, domain, suppressions, write: content },
      count: result => mails.add({ result })
    })
    const write = createMessages({ enqueue, locale, giveUpSeconds })
    const isOn = (template: string) => !settings.off.some(off => off === template)
    const staff = createStaff({ write, isOn, addresses: settings.staff })

    chores.every(MEASURE_SECONDS, 'measure messages', createMessageFigures(metrics, db).measure)
    chores.sweep(HOUR_SECONDS, 'delete old messages', () => db.run(deleteOldMessages, { days }))
    if (transport.name === 'mailbox')
      chores.sweep(MINUTE_SECONDS, 'delete old mails of the mailbox', mailbox.sweep)
    const api: NotificationsApi = {
      mailbox: transport.name === 'mailbox' ? mailbox : undefined,
      tellStaff: staff.tell
    }
    return {
      api,
      people: messagesOfPeople(db),
      routes: tiers => {
        sendingRoutes(tiers, createSending({ db, write, auth, orders }), settings.sends_per_minute)
        unsubscribeRoutes(tiers, unsubscribe)
        templateRoutes(tiers, createTemplateChanges({ db, renderer, templates, shopName, locale }))
        suppressionRoutes(tiers, suppressions)
        messageRoutes(tiers, createMessageAdministration({ db, enqueue, giveUpSeconds }))
      },
      consumers: {
        ...createAccountHearing({ auth, write, isOn }),
        ...createStockHearing({ catalog, staff }),
        ...createGuestHearing({ orders, write, isOn }),
        ...createOrderHearing({ auth, orders, shipping, write, isOn })
      },
      handlers: { 'notifications.send_message': job => send(job) },
      stop: async () => {
        await Promise.all([renderer.close(), transport.close()])
      }
    }
  }
})
