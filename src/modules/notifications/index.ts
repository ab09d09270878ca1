import { parseEmail } from '../../kernel/email.ts'
import { OperatorError } from '../../kernel/errors.ts'
import { defineModule } from '../../module.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule, stockCrossed } from '../inventory/index.ts'
import { orderCanceled, orderPlaced, orderShipped, ordersModule } from '../orders/index.ts'
import { paymentPaid, paymentRefunded, paymentsModule } from '../payments/index.ts'
import { createContent } from './delivery/content.ts'
import { createDelivery } from './delivery/service.ts'
import { createOrderHearing } from './hearing/orders.ts'
import { createStockHearing } from './hearing/stock.ts'
import { createLinks } from './links/service.ts'
import { createMailbox, type MailboxService } from './mailbox/service.ts'
import { createMessageFigures } from './messages/figures.ts'
import { sendMessage } from './messages/job.ts'
import { deleteOldMessages } from './messages/repository.ts'
import { createMessages } from './messages/service.ts'
import { notificationsSettings } from './settings.ts'
import { createEngine } from './templates/engine.ts'
import { createTemplates } from './templates/service.ts'
import { openTransport } from './transport/open.ts'

const HOUR_SECONDS = 3_600
const MINUTE_SECONDS = 60
const MEASURE_SECONDS = 15

/** What other parts of the shop may ask of notifications. */
type NotificationsApi = {
  /** The mails of a shop in development; `undefined` where mails are sent. */
  readonly mailbox: Pick<MailboxService, 'list' | 'find'> | undefined
}

/** What customers, and those who look after the shop, are told. */
export const notificationsModule = defineModule({
  name: 'notifications',
  description: 'Mails to customers and to those who look after the shop.',
  basePaths: ['/api/notifications', '/api/admin/notifications'],
  settings: notificationsSettings,
  requires: {},
  uses: {
    inventory: inventoryModule,
    payments: paymentsModule,
    catalog: catalogModule,
    orders: ordersModule
  },
  hears: [stockCrossed, orderPlaced, orderShipped, orderCanceled, paymentPaid, paymentRefunded],
  jobs: [sendMessage],
  migrations: new URL('./migrations/', import.meta.url),
  setup: async ({ config, db, chores, enqueue, log, metrics }, settings, { catalog, orders }) => {
    const { locale } = settings
    const links = createLinks(config, settings)
    const mailbox = createMailbox({ db, mailsMax: settings.mailbox_max })
    const { transport, domain } = openTransport({ config, settings, log, keep: mailbox.keep })
    const engine = createEngine({ timeZone: config.shop.time_zone })
    const templates = createTemplates({ locale })
    const mails = metrics.counter('mails', 'Tries to send a mail, by what became of them.', {
      result: ['sent', 'failed', 'dead', 'suppressed', 'skipped']
    })
    const send = createDelivery({
      ...{ db, log, enqueue, transport, domain },
      write: createContent({ db, engine, templates, links, shopName: config.shop.name, orders }),
      count: result => mails.add({ result })
    })
    const write = createMessages({ enqueue, locale, giveUpSeconds: settings.give_up_hours * HOUR_SECONDS })
    for (const each of settings.staff)
      if (parseEmail(each) === undefined)
        throw new OperatorError(
          'notifications.staff: each must be an e-mail address such as ops@example.com.'
        )
    const isOn = (template: string) => !settings.off.some(off => off === template)
    chores.every(MEASURE_SECONDS, 'measure messages', createMessageFigures(metrics, db).measure)
    chores.sweep(HOUR_SECONDS, 'delete old messages', () =>
      db.run(deleteOldMessages, { days: settings.kept_days })
    )
    if (transport.name === 'mailbox')
      chores.sweep(MINUTE_SECONDS, 'delete old mails of the mailbox', mailbox.sweep)
    const api: NotificationsApi = { mailbox: transport.name === 'mailbox' ? mailbox : undefined }
    return {
      api,
      consumers: {
        ...createStockHearing({ catalog, write, staff: settings.staff, isOn }),
        ...createOrderHearing({ orders, write, isOn })
      },
      handlers: { 'notifications.send_message': job => send(job) },
      stop: transport.close
    }
  }
})
