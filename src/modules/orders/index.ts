import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { Delivery, PayloadOf } from '../../kernel/events.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { authModule } from '../auth/index.ts'
import { cartModule } from '../cart/index.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule, stockLost, stockTaken } from '../inventory/index.ts'
import { isOrderToken, orderToken, paymentsModule } from '../payments/index.ts'
import { pricingModule } from '../pricing/index.ts'
import { shipmentDelivered, shipmentReturned, shippingModule } from '../shipping/index.ts'
import { createOrderActions } from './administration/actions.ts'
import { orderAdministrationRoutes } from './administration/routes.ts'
import { createOrderAdministration, type OrderAdministration } from './administration/service.ts'
import { createArrivals } from './arrivals/service.ts'
import { assistedOrderRoutes } from './assisted-orders/routes.ts'
import { createAssistedOrders } from './assisted-orders/service.ts'
import { createCancellations } from './cancel/service.ts'
import { createPaymentListener } from './changes/payments.ts'
import { createPlace } from './changes/place.ts'
import { createChanges } from './changes/service.ts'
import { limitGuesses } from './checkouts/guesses.ts'
import { createIntake } from './checkouts/intake.ts'
import { createPricer } from './checkouts/pricer.ts'
import { deleteExpiredCheckouts } from './checkouts/repository.ts'
import { checkoutRoutes } from './checkouts/routes.ts'
import { QUANTITY_MAX } from './checkouts/schema.ts'
import { createCheckoutService } from './checkouts/service.ts'
import { claimRoutes } from './claims/routes.ts'
import { createClaims } from './claims/service.ts'
import { completeOrders } from './completion/job.ts'
import { createCompletion } from './completion/service.ts'
import { countryRoutes } from './countries/routes.ts'
import { createCountryService } from './countries/service.ts'
import { createCredits } from './credits/service.ts'
import { openDataRequest } from './data-requests/job.ts'
import { dataRequestRoutes } from './data-requests/routes.ts'
import { createDataRequests, type DataRequestLink } from './data-requests/service.ts'
import { createErasure, ordersOfPeople } from './erasure/service.ts'
import {
  dataRequested,
  orderCanceled,
  orderClaimed,
  orderCreated,
  orderCredited,
  orderErased,
  orderEvicted,
  orderPlaced,
  orderShipmentVoided,
  orderShipped,
  unpaidStockHigh
} from './events.ts'
import { createEvictionHearing } from './evictions/hearing.ts'
import { createOutcome } from './evictions/outcome.ts'
import { createEvictions } from './evictions/service.ts'
import { expireOrders } from './expiry/job.ts'
import { createExpiry } from './expiry/service.ts'
import { figures, type OrderFigures } from './figures/service.ts'
import { createFulfilment } from './fulfilment/service.ts'
import { guestCheckoutRoutes } from './guest/routes.ts'
import { createGuestCheckoutService } from './guest/service.ts'
import { eraseOldGuestData } from './guest-data/job.ts'
import { guestDataRoutes } from './guest-data/routes.ts'
import { createGuestData } from './guest-data/service.ts'
import { guestOrderRoutes } from './guest-orders/routes.ts'
import { createGuestOrderService, type OrderTokens } from './guest-orders/service.ts'
import { createLetters, type OrderLetter } from './letters/service.ts'
import { createNumbers } from './numbers/service.ts'
import { orderRoutes } from './orders/routes.ts'
import { createOrderService } from './orders/service.ts'
import { createBuyers, hasOrdered } from './placing/buyers.ts'
import { createPlacing } from './placing/service.ts'
import { bought } from './purchases/service.ts'
import { quoteRoutes } from './quotes/routes.ts'
import { createQuotes } from './quotes/service.ts'
import { ordersSettings } from './settings.ts'
import { listForSlips } from './slips/repository.ts'
import { createUnpaidFigures } from './unpaid-stock/figures.ts'
import { watchUnpaidStock } from './unpaid-stock/job.ts'
import { limitsOf } from './unpaid-stock/limits.ts'
import { createUnpaidStock } from './unpaid-stock/service.ts'
import { createUnpaidWatch } from './unpaid-stock/watch.ts'

export {
  dataRequested,
  orderCanceled,
  orderClaimed,
  orderCreated,
  orderCredited,
  orderErased,
  orderEvicted,
  orderPlaced,
  orderShipmentVoided,
  orderShipped,
  unpaidStockHigh
} from './events.ts'
export type { OrderFigures, OrderLetter }

const SWEEP_SECONDS = 300
/** So long an expired checkout says so, before it is gone: anybody can make any number of these. */
const KEPT_SECONDS = 3_600
const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

type DataRequest = PayloadOf<typeof openDataRequest>

/** What other modules ask about orders. */
export type OrdersApi = {
  /**
   * Which of these, ids of variants or of products, this customer has bought: some of it is in an order that is looked after,
   * and that was not canceled. What came back was bought, too. One statement.
   */
  bought(db: Queryable, customerId: string, ids: readonly string[]): Promise<ReadonlySet<string>>
  /** What letters about these orders say, in any order; those that there are. One statement. */
  letters(db: Queryable, orderIds: readonly string[]): Promise<readonly OrderLetter[]>
  /** What was ordered in days that begin at these times, and end with the next one or at `end`. Two statements. */
  figures(db: Queryable, starts: readonly Date[], end: Date): Promise<OrderFigures>
  /** What the mail for a guest's request of their data needs; `undefined` when it has expired or was used. */
  dataRequest(db: Queryable, requestId: string): Promise<DataRequestLink | undefined>
  /** Orders as a CSV file, the newest first: those that the filters of `/api/admin/orders` leave. */
  exportCsv: OrderAdministration['exportCsv']
  /**
   * Somebody leaves: their checkouts are deleted, and nothing says any more whose their orders, payments and shipments were.
   * Amounts stay. Whoever has left already has nothing that could be forgotten. @throws `ORDER_STILL_OPEN`
   */
  forget(tx: Transaction, customerId: string): Promise<void>
}

/** What is bought: checkouts, and the orders that they become. */
export const ordersModule = defineModule({
  name: 'orders',
  description: 'Checkouts and orders: what somebody wants to buy, what that costs, and what they bought.',
  basePaths: ['/api/orders', '/api/checkouts', '/api/countries', '/api/admin/orders'],
  settings: ordersSettings,
  capabilities: ['x-checkout-token', 'x-order-token'],
  requires: { catalog: catalogModule, pricing: pricingModule },
  uses: {
    auth: authModule,
    inventory: inventoryModule,
    payments: paymentsModule,
    shipping: shippingModule,
    cart: cartModule
  },
  emits: [
    orderCreated,
    orderPlaced,
    orderClaimed,
    orderShipped,
    orderShipmentVoided,
    orderCredited,
    orderCanceled,
    orderEvicted,
    unpaidStockHigh,
    orderErased,
    dataRequested
  ],
  hears: [shipmentDelivered, shipmentReturned, stockTaken, stockLost],
  jobs: [expireOrders, completeOrders, watchUnpaidStock, eraseOldGuestData, openDataRequest],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: true,
  setup: async ({ config, db, chores, emit, enqueue, log, metrics, secrets, house }, settings, apis) => {
    const { auth, catalog, pricing, inventory, payments, shipping, cart } = apis
    // What a cart takes of one variant is not got around by leaving the cart out.
    const lineQuantityMax = cart?.lineQuantityMax ?? QUANTITY_MAX
    pricing.askOrders(hasOrdered)
    shipping?.askOrders((database, ids) => database.rows(listForSlips, { ids: [...ids] }))
    const intake = createIntake({ pricing, cart })
    const priceNow = createPricer({ auth, catalog, pricing, inventory, shipping, lineQuantityMax })
    const seconds = settings.checkout_minutes * MINUTE_SECONDS
    const checkouts = createCheckoutService({ db, cart, seconds, intake, priceNow })
    const guests = createGuestCheckoutService({ checkouts, secrets })
    const policy = settings.customer_cancel
    const {
      alert_percent: alertPercent,
      protected_units: protectedUnits,
      card_minutes: cardMinutes,
      contested_units: contestedMax,
      ...unpaidLimits
    } = settings.unpaid_stock
    const limits = limitsOf(unpaidLimits)
    const countRefusal = createUnpaidFigures({ db, chores, metrics })
    const unpaidStock = createUnpaidStock({ auth, inventory, limits, contestedMax, countRefusal })
    const evictions = createEvictions({
      ...{ auth, inventory, protectedUnits },
      cardSeconds: cardMinutes * MINUTE_SECONDS
    })
    const { unitsAlways } = limits.buyer
    const watchUnpaid = createUnpaidWatch({ db, emit, inventory, alertPercent, unitsAlways })
    const changes = createChanges({ payments, shipping, unpaidStock, policy })
    const fulfilment = createFulfilment({ db, changes, emit, inventory, payments, shipping })
    const place = createPlace({ changes, fulfilment, emit })
    const waits = {
      usual: settings.expiry.minutes * MINUTE_SECONDS,
      transfer: settings.expiry.transfer_hours * HOUR_SECONDS,
      transferOfVerified: settings.expiry.transfer_days * DAY_SECONDS
    }
    const buyerOf = createBuyers({ secrets, auth })
    const placing = createPlacing({
      ...{ db, secrets, emit, pricing, priceNow, inventory, payments, shipping, cart, changes, fulfilment },
      ...{ buyerOf, unpaidStock, evictions },
      nextNumber: createNumbers(db),
      pendingMax: { ofBuyer: settings.pending_per_buyer, ofNetwork: settings.pending_per_address },
      waits
    })
    const credits = createCredits({ payments, emit })
    const cancellations = createCancellations({
      ...{ db, changes, credits, emit, pricing, payments, inventory, cart }
    })
    const expire = createExpiry({ db, log, changes, cancellations, payments, unpaidStock, waits })
    const complete = createCompletion({
      ...{ db, log, changes },
      seconds: settings.completed_after_days * DAY_SECONDS
    })
    const actions = createOrderActions({
      db,
      changes,
      credits,
      cancellations,
      fulfilment,
      inventory,
      payments
    })
    const guesses = limitGuesses(
      config.rate_limit.enabled ? settings.unknown_codes_per_minute : Number.POSITIVE_INFINITY
    )
    const orders = createOrderService({
      ...{ db, checkouts, intake, placing, payments, cancellations, guesses, policy }
    })
    const tokens: OrderTokens = {
      of: (id, version) => orderToken(secrets, id, version),
      isOf: (token, id, version) => isOrderToken(secrets, token, id, version)
    }
    const claims = createClaims({ db, changes, emit, orders, tokens, payments, shipping })
    payments?.listen(
      createPaymentListener({
        ...{ changes, cancellations, credits, evictions, fulfilment, place, pricing, unpaidStock, waits }
      }),
      unpaidStock.admit,
      createOutcome({ db, inventory })
    )
    chores.sweep(SWEEP_SECONDS, 'delete expired checkouts', () =>
      db.run(deleteExpiredCheckouts, { keptSeconds: KEPT_SECONDS })
    )
    const letters = createLetters({ pricing, tokens })
    const erasure = createErasure({ auth, payments, shipping })
    const guestData = createGuestData({
      ...{ db, emit, people: house.people, lock: erasure.lockGuestOrders },
      retentionDays: settings.guest_data_days
    })
    const dataRequests = createDataRequests({ db, emit, enqueue, secrets, guestData })
    chores.sweep(SWEEP_SECONDS, 'delete old requests of guests for their data', dataRequests.deleteOld)
    const administration = createOrderAdministration({ db, actions, fulfilment })
    const api: OrdersApi = {
      bought,
      letters,
      figures,
      forget: erasure.forget,
      dataRequest: dataRequests.link,
      exportCsv: administration.exportCsv
    }
    return {
      api,
      people: ordersOfPeople(db, erasure),
      consumers: {
        'shipping.delivered': createArrivals({ changes, shipping }, 'deliver'),
        'shipping.returned': createArrivals({ changes, shipping }, 'come_back'),
        ...createEvictionHearing({
          ...{ changes, cancellations, credits, evictions, fulfilment, place, inventory, unpaidStock, emit }
        })
      },
      handlers: {
        'orders.expire_orders': (_job, signal) => expire(signal),
        'orders.complete_orders': (_job, signal) => complete(signal),
        'orders.watch_unpaid_stock': watchUnpaid,
        'orders.erase_old_guest_data': (_job, signal) => guestData.eraseOld(signal),
        'orders.open_data_request': ({ id, payload }: Delivery<DataRequest>) => dataRequests.open(id, payload)
      },
      routes: (tiers: Tiers) => {
        const { checkouts_per_minute, orders_per_minute } = settings
        const ofCheckouts = { perMinute: checkouts_per_minute, guesses }
        countryRoutes(tiers, createCountryService({ pricing, shipping }))
        checkoutRoutes(tiers, checkouts, ofCheckouts)
        guestCheckoutRoutes(tiers, guests, ofCheckouts)
        const ofOrders = { perMinute: orders_per_minute, guesses }
        orderRoutes(tiers, orders, ofOrders)
        claimRoutes(tiers, claims)
        orderAdministrationRoutes(tiers, administration)
        guestDataRoutes(tiers, guestData)
        dataRequestRoutes(tiers, dataRequests)
        assistedOrderRoutes(tiers, createAssistedOrders({ db, intake, placing, payments, tokens }))
        quoteRoutes(tiers, createQuotes({ db, intake, priceNow, buyerOf, pricing }))
        guestOrderRoutes(tiers, createGuestOrderService({ orders, checkouts: guests, tokens }), ofOrders)
      }
    }
  }
})
