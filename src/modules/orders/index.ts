import type { Tiers } from '../../gateway/routing/tiers.ts'
import { provide } from '../../kernel/ports.ts'
import { keptForYears } from '../../kernel/retention.ts'
import { defineModule } from '../../module.ts'
import type { Queryable, Transaction } from '../../platform/postgres/database.ts'
import { authModule } from '../auth/index.ts'
import { cartModule } from '../cart/index.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule, stockLostEvent, stockTakenEvent } from '../inventory/index.ts'
import {
  deriveOrderToken,
  isValidOrderToken,
  orderPaymentHooksPort,
  orderPaymentsOfApi,
  paymentsModule
} from '../payments/index.ts'
import { orderHistoryPort, pricingModule } from '../pricing/index.ts'
import {
  packingSlipOrdersPort,
  shipmentDeliveredEvent,
  shipmentReturnedEvent,
  shippingModule
} from '../shipping/index.ts'
import type { OrderAdministration } from './administration/service.ts'
import { type OrderStatistics, readOrderStatistics } from './administration/statistics.ts'
import type { Buyer } from './buyers/buyer.ts'
import { findPurchasedCatalogIds, hasBuyerOrdered } from './buyers/service.ts'
import type { PlaceOrderInput } from './checkouts/place-order.ts'
import type { CheckoutCommands, OrderCommands } from './commands/contract.ts'
import {
  dataRequestedEvent,
  orderCanceledEvent,
  orderClaimedEvent,
  orderCreatedEvent,
  orderCreditedEvent,
  orderErasedEvent,
  orderEvictedEvent,
  orderPlacedEvent,
  orderShipmentVoidedEvent,
  orderShippedEvent,
  unpaidStockHighEvent
} from './events.ts'
import { readOrdersForPackingSlips } from './fulfilment/packing-slips.ts'
import {
  completeOrdersJob,
  eraseOldGuestDataJob,
  expireOrdersJob,
  sendDataRequestLinkJob,
  watchUnpaidStockJob
} from './jobs.ts'
import {
  type OrderCheck,
  orderCheckPort,
  type PurchaseRefusal,
  type PurchaseToCheck
} from './order-checks/port.ts'
import type { OrderMessageSummary } from './orders/message-summary-service.ts'
import type { OrderTokens } from './orders/service.ts'
import type { DataRequestMail } from './personal-data/data-request-service.ts'
import { setUpCheckoutServices } from './set-up-checkouts.ts'
import { setUpOrderLifecycleServices } from './set-up-lifecycle.ts'
import { setUpOrderPersonalDataServices } from './set-up-personal-data.ts'
import { setUpOrderPlacementServices } from './set-up-placement.ts'
import { ordersSettings } from './settings.ts'
import { tenderPort } from './tenders/port.ts'
import { findTenderStartProblems } from './tenders/shop-start-problems.ts'

export { assistedBuyerOfRequest, customerBuyerOfRequest, guestBuyerOfRequest } from './buyers/routes.ts'
export {
  dataRequestedEvent,
  orderCanceledEvent,
  orderClaimedEvent,
  orderCreatedEvent,
  orderCreditedEvent,
  orderErasedEvent,
  orderEvictedEvent,
  orderPlacedEvent,
  orderShipmentVoidedEvent,
  orderShippedEvent,
  unpaidStockHighEvent
} from './events.ts'
export { findRefusalFault } from './order-checks/refusals.ts'
export { orderResource } from './orders/schema.ts'
export {
  type TenderCover,
  type TenderProvider,
  type TenderQuery,
  type TenderRefund,
  tenderPort
} from './tenders/port.ts'
export type {
  Buyer,
  OrderCheck,
  OrderMessageSummary,
  OrderStatistics,
  PlaceOrderInput,
  PurchaseRefusal,
  PurchaseToCheck
}
export { orderCheckPort }

/** The API of orders for other modules. */
export type OrdersApi = {
  /** Begins, changes, reads, cancels and completes checkouts of a buyer. */
  readonly checkouts: CheckoutCommands
  /** Places, reads and lists orders of a buyer. */
  readonly orders: OrderCommands
  /**
   * Returns those of these ids, of variants or products, that the customer has bought: in a placed or
   * completed order, not canceled. Returned units count as bought. One statement. Takes no lock.
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const items = [{ variant_id: variantId, quantity: 1 }]
   * await orders.orders.place(buyer, { items, shipping_address }, newWrite())
   * // The order waits for its payment, so nothing counts as bought.
   * const purchased = await orders.findPurchased(db, customerId, [variantId])
   * assert.equal(purchased.size, 0)
   */
  findPurchased(db: Queryable, customerId: string, ids: readonly string[]): Promise<ReadonlySet<string>>
  /**
   * Returns the content of messages about these orders, in any order. Unknown ids are left out. One
   * statement. Takes no lock.
   * @example
   * const buyer = { kind: 'customer', customerId } as const
   * const items = [{ variant_id: variantId, quantity: 1 }]
   * const { order } = await orders.orders.place(buyer, { items, shipping_address }, newWrite())
   * const [summary] = await orders.orderSummaries(db, [order.id])
   * assert.equal(summary?.number, order.number)
   */
  orderSummaries(db: Queryable, orderIds: readonly string[]): Promise<readonly OrderMessageSummary[]>
  /**
   * Returns the token of a guest order: a secret. `version` is `token_version` of the order's summary. Reads nothing.
   * @example
   * const items = [{ variant_id: variantId, quantity: 1 }]
   * const request = { items, shipping_address, email: 'ada@example.com' }
   * const { order, orderToken } = await orders.orders.place({ kind: 'guest' }, request, newWrite())
   * const [summary] = await orders.orderSummaries(db, [order.id])
   * assert.equal(orders.orderToken(order.id, summary?.token_version ?? 0), orderToken)
   */
  orderToken(orderId: string, version: number): string
  /**
   * Order statistics by day. A day begins at one of `starts` and ends at the next one, the last at `end`.
   * Two statements. Takes no lock.
   * @example
   * const start = new Date('2026-01-01T00:00:00Z')
   * const { days } = await orders.statistics(db, [start], new Date('2026-01-02T00:00:00Z'))
   * assert.deepEqual(days, [])
   */
  statistics(db: Queryable, starts: readonly Date[], end: Date): Promise<OrderStatistics>
  /**
   * The content of the mail for a guest's data request. `undefined`: the request has expired or was used.
   * Takes no lock. One statement.
   * @example
   * assert.equal(await orders.findDataRequest(db, newId()), undefined)
   */
  findDataRequest(db: Queryable, requestId: string): Promise<DataRequestMail | undefined>
  /**
   * Exports orders that match the filters of `/api/admin/orders` as a CSV file, newest first. Reads a page
   * at a time, without a lock.
   * @example
   * const chunks = await orders.exportCsv({ rows: 'orders' }).toArray()
   * assert.match(chunks.join(''), /number/)
   */
  exportCsv: OrderAdministration['exportCsv']
  /**
   * Erases the customer's personal data: deletes checkouts, and removes the customer from orders, payments
   * and shipments. Amounts stay. Does nothing when the customer was erased before. Locks the customer's payment
   * accounts, and then the orders, until `tx` ends.
   * @throws `ORDER_STILL_OPEN`; then nothing is erased.
   * @example
   * await db.transaction(tx => orders.erase(tx, customerId))
   * assert.equal((await orders.orders.list({ kind: 'customer', customerId }, { count: true })).total, 0)
   */
  erase(tx: Transaction, customerId: string): Promise<void>
}

/** Checkouts, and the orders that they become. */
export const ordersModule = defineModule({
  name: 'orders',
  description: 'Checkouts, orders and their fulfilment.',
  tags: {
    'guest checkouts': 'Checkouts without an account. `X-Checkout-Token` proves access.',
    'guest orders':
      'Orders without an account, and the personal data of guests. `X-Order-Token` proves access.'
  },
  basePaths: ['/api/orders', '/api/checkouts', '/api/countries', '/api/admin/orders'],
  settings: ordersSettings,
  credentialHeaders: ['x-checkout-token', 'x-order-token'],
  requires: { catalog: catalogModule, pricing: pricingModule },
  uses: {
    auth: authModule,
    inventory: inventoryModule,
    payments: paymentsModule,
    shipping: shippingModule,
    cart: cartModule
  },
  emits: [
    orderCreatedEvent,
    orderPlacedEvent,
    orderClaimedEvent,
    orderShippedEvent,
    orderShipmentVoidedEvent,
    orderCreditedEvent,
    orderCanceledEvent,
    orderEvictedEvent,
    unpaidStockHighEvent,
    orderErasedEvent,
    dataRequestedEvent
  ],
  ports: [orderCheckPort, tenderPort],
  provides: [orderHistoryPort, packingSlipOrdersPort, orderPaymentHooksPort],
  subscribes: [shipmentDeliveredEvent, shipmentReturnedEvent, stockTakenEvent, stockLostEvent],
  jobs: [
    expireOrdersJob,
    completeOrdersJob,
    watchUnpaidStockJob,
    eraseOldGuestDataJob,
    sendDataRequestLinkJob
  ],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async (platform, settings, { payments, ...others }) => {
    const { partitions, secrets } = platform
    partitions.keep({
      table: 'orders.history',
      period: 'year',
      keptSince: keptForYears(settings.history_retention_years)
    })
    const apis = { ...others, payments: payments && orderPaymentsOfApi(payments) }
    const tokens: OrderTokens = {
      create: (id, version) => deriveOrderToken(secrets, id, version),
      verify: (token, id, version) => isValidOrderToken(secrets, token, id, version)
    }
    const checkouts = setUpCheckoutServices(platform, settings, apis)
    const lifecycle = setUpOrderLifecycleServices(platform, settings, apis)
    const placement = setUpOrderPlacementServices(platform, settings, apis, { checkouts, lifecycle, tokens })
    const personalData = setUpOrderPersonalDataServices(platform, settings, apis)
    const api: OrdersApi = {
      ...placement.commands,
      findPurchased: findPurchasedCatalogIds,
      statistics: readOrderStatistics,
      orderSummaries: placement.orderSummaries,
      orderToken: tokens.create,
      exportCsv: lifecycle.exportCsv,
      erase: personalData.erase,
      findDataRequest: personalData.dataRequest
    }
    return {
      api,
      findStartProblems: () => findTenderStartProblems(platform),
      provides: [
        provide(orderHistoryPort, 'orders', hasBuyerOrdered),
        provide(packingSlipOrdersPort, 'orders', readOrdersForPackingSlips),
        provide(orderPaymentHooksPort, 'orders', lifecycle.paymentHooks)
      ],
      personalData: personalData.personalData,
      eventHandlers: lifecycle.eventHandlers,
      jobHandlers: { ...lifecycle.jobHandlers, ...personalData.jobHandlers },
      hasWork: lifecycle.hasWork,
      routes: (tiers: Tiers) => {
        for (const part of [checkouts, placement, lifecycle, personalData]) part.routes(tiers)
      }
    }
  }
})
