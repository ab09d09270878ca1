import {
  defineModule,
  type JobDelivery,
  notificationsModule,
  orderCanceledEvent,
  orderPlacedEvent,
  ordersModule,
  paymentPaidEvent,
  paymentsModule,
  provide,
  tenderPort
} from 'cartwright'
import { createGuessLimiter } from './cards/guesses.ts'
import { createCardIssuer } from './cards/issue.ts'
import { expireCardsJob, mailCodeJob } from './cards/jobs.ts'
import * as repository from './cards/repository.ts'
import { createGiftCardTender } from './cards/tender.ts'
import { giftCardSettings } from './settings.ts'

const EXPIRED_AT_ONCE_MAX = 500

export const giftCardsModule = defineModule({
  name: 'gift_cards',
  description: 'Gift cards: sold as products, mailed as codes, and used to pay for orders.',
  basePaths: [],
  settings: giftCardSettings,
  requires: { orders: ordersModule },
  uses: { payments: paymentsModule, notifications: notificationsModule },
  provides: [tenderPort],
  subscribes: [orderPlacedEvent, paymentPaidEvent, orderCanceledEvent],
  jobs: [mailCodeJob, expireCardsJob],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: 'A gift card names an order, and no customer.',
  setup: async ({ db, secrets, enqueue }, settings, { orders, notifications }) => {
    const cards = createCardIssuer({
      db,
      enqueue,
      secrets,
      orders,
      notifications,
      worthOfSku: new Map(settings.products.map(({ sku, worth }) => [sku, worth])),
      validDays: settings.valid_days
    })
    const tender = createGiftCardTender({
      db,
      secrets,
      limitGuesses: createGuessLimiter(settings.wrong_codes_per_minute),
      refundValidDays: settings.refund_valid_days
    })
    return {
      api: {},
      provides: [provide(tenderPort, 'gift_card', tender)],
      // An order is placed before or after it is paid, by its payment method. Cards are issued with whichever is later.
      eventHandlers: {
        'orders.placed': (tx, events) => cards.issue(tx, orderIdsOf(events)),
        'payments.paid': (tx, events) => cards.issue(tx, orderIdsOf(events)),
        'orders.canceled': (tx, events) => cards.void(tx, orderIdsOf(events))
      },
      jobHandlers: {
        'gift_cards.mail_code': ({ payload }) => cards.mailCode(payload.card_id),
        'gift_cards.expire_cards': async (_job, signal) => {
          await db.run(repository.deleteExpiredReservations)
          let expired = EXPIRED_AT_ONCE_MAX
          while (expired === EXPIRED_AT_ONCE_MAX && !signal.aborted)
            expired = (await db.first(repository.expireCards, { limit: EXPIRED_AT_ONCE_MAX }))?.expired ?? 0
        }
      },
      diagnoses: [
        {
          about: 'gift cards',
          find: async () => {
            const [wrong] = await db.rows(repository.findWrongBalances)
            return wrong === undefined
              ? { state: 'ok', detail: 'balances are right' }
              : {
                  state: 'wrong',
                  detail: `gift card ${wrong.id} has ${wrong.balance}, but its entries add up to ${wrong.entries}`,
                  advice: 'Restore the row from a backup, or correct it by an entry.'
                }
          }
        }
      ]
    }
  }
})

const orderIdsOf = (events: readonly JobDelivery<{ readonly order_id: string }>[]): string[] =>
  events.map(({ payload }) => payload.order_id)
