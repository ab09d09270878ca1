import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { ModulePlatform } from '../../module.ts'
import type { AuthApi } from '../auth/index.ts'
import type { CartApi } from '../cart/index.ts'
import type { InventoryApi } from '../inventory/index.ts'
import type { OrderPayments } from '../payments/index.ts'
import type { PricingApi } from '../pricing/index.ts'
import type { ShippingApi } from '../shipping/index.ts'
import { createOrderAdjustmentService } from './adjustments/service.ts'
import { createAdminOrderActions } from './administration/actions.ts'
import { orderAdministrationRoutes } from './administration/routes.ts'
import { createOrderAdministration } from './administration/service.ts'
import { createCancellationService } from './cancellation/service.ts'
import { createOrderExpirer } from './expiry/service.ts'
import { createPlacerOfPendingOrders } from './fulfilment/place-pending-order.ts'
import { createFulfilmentService } from './fulfilment/service.ts'
import { createShipmentEventHistoryRecorder } from './fulfilment/shipment-events.ts'
import { createOrderCompleter } from './lifecycle/complete-orders.ts'
import { createOrderTransitions } from './lifecycle/service.ts'
import { createPaymentChangeApplier } from './payments/apply-change.ts'
import { createPaymentChangeListener } from './payments/listener.ts'
import { createOrderCancellationCompletion } from './payments/settle-cancellation.ts'
import { createOrderRefunds } from './refunds/service.ts'
import type { OrdersSettings } from './settings.ts'
import { createOrderTenders } from './tenders/service.ts'
import { createUnpaidStockAlert } from './unpaid-stock/alert.ts'
import { createStockEvictionService } from './unpaid-stock/eviction-service.ts'
import { createUnpaidOrderEvictionSubscriber } from './unpaid-stock/eviction-subscriber.ts'
import { unpaidStockLimitsOf } from './unpaid-stock/limits.ts'
import { createUnpaidStockMetrics } from './unpaid-stock/metrics.ts'
import { createUnpaidStockLimiter } from './unpaid-stock/service.ts'
import { createStockEvictionWaiter } from './unpaid-stock/wait-for-evictions.ts'

const MINUTE_SECONDS = 60
const HOUR_SECONDS = 3_600
const DAY_SECONDS = 86_400

type Apis = {
  readonly auth: AuthApi | undefined
  readonly pricing: PricingApi
  readonly inventory: InventoryApi | undefined
  readonly payments: OrderPayments | undefined
  readonly shipping: ShippingApi | undefined
  readonly cart: CartApi | undefined
}

/**
 * Creates the services that change an existing order: payments, cancellation, expiry, fulfilment, completion,
 * administration.
 */
export function setUpOrderLifecycleServices(
  { db, timers, emit, log, metrics, ports, fieldsOf }: ModulePlatform,
  settings: OrdersSettings,
  { auth, pricing, inventory, payments, shipping, cart }: Apis
) {
  const paymentTimeouts = {
    usual: settings.expiry.minutes * MINUTE_SECONDS,
    transfer: settings.expiry.transfer_hours * HOUR_SECONDS,
    transferOfVerified: settings.expiry.transfer_days * DAY_SECONDS
  }
  const { unpaidStock, evictions, watchUnpaid } = setUpUnpaidStock()
  const changes = createOrderTransitions({
    payments,
    shipping,
    unpaidStock,
    policy: settings.customer_cancel
  })
  const fulfilment = createFulfilmentService({ db, changes, emit, inventory, payments, shipping })
  const placePendingOrder = createPlacerOfPendingOrders({ changes, fulfilment, emit })
  const tenders = createOrderTenders({ db, ports })
  const adjustments = createOrderAdjustmentService({ emit, tenders })
  const settlement = createOrderCancellationCompletion({ changes, emit, pricing, inventory, cart })
  const applyPaymentChange = createPaymentChangeApplier({
    settleCancellation: settlement.settle,
    adjustments,
    fulfilment,
    evictions,
    placePendingOrder,
    pricing,
    unpaidStock,
    tenders,
    paymentTimeouts
  })
  const refunds = createOrderRefunds({ db, changes, adjustments, applyPaymentChange, payments })
  const cancellations = createCancellationService({
    db,
    changes,
    settlement,
    adjustments,
    applyPaymentChange,
    payments
  })
  const expiry = createOrderExpirer({ db, log, changes, cancellations, unpaidStock, paymentTimeouts })
  const completedAfterSeconds = settings.completed_after_days * DAY_SECONDS
  const complete = createOrderCompleter({ db, log, changes, seconds: completedAfterSeconds })
  const transitions = {
    changes,
    cancellations,
    adjustments,
    refunds,
    fulfilment,
    evictions,
    placePendingOrder,
    unpaidStock
  }
  const actions = createAdminOrderActions({
    db,
    changes,
    cancellations,
    adjustments,
    refunds,
    fulfilment,
    inventory,
    payments
  })
  const administration = createOrderAdministration({ db, actions, fulfilment, fieldsOf })

  function setUpUnpaidStock() {
    const limitSettings = settings.unpaid_stock
    const limits = unpaidStockLimitsOf(limitSettings)
    const countRefusal = createUnpaidStockMetrics({ db, timers, metrics })
    return {
      unpaidStock: createUnpaidStockLimiter({
        auth,
        inventory,
        limits,
        contestedMax: limitSettings.contested_units,
        paymentTimeouts,
        countRefusal
      }),
      evictions: createStockEvictionService({
        auth,
        inventory,
        protectedUnits: limitSettings.protected_units,
        cardSeconds: limitSettings.card_minutes * MINUTE_SECONDS
      }),
      watchUnpaid: createUnpaidStockAlert({
        db,
        emit,
        inventory,
        alertPercent: limitSettings.alert_percent,
        unitsAlways: limits.buyer.unitsAlways
      })
    }
  }

  return {
    changes,
    cancellations,
    fulfilment,
    unpaidStock,
    evictions,
    tenders,
    paymentTimeouts,
    paymentHooks: {
      onChange: createPaymentChangeListener({ changes, applyPaymentChange }),
      beforeStart: unpaidStock.admit,
      onReturn: createStockEvictionWaiter({ db, inventory })
    },
    exportCsv: administration.exportCsv,
    updateMetadata: actions.updateMetadata,
    eventHandlers: {
      'shipping.delivered': createShipmentEventHistoryRecorder({ changes, shipping }, 'deliver'),
      'shipping.returned': createShipmentEventHistoryRecorder({ changes, shipping }, 'come_back'),
      ...createUnpaidOrderEvictionSubscriber({ ...transitions, inventory, emit })
    },
    jobHandlers: {
      'orders.expire_orders': (_job: unknown, signal: AbortSignal) => expiry.run(signal),
      'orders.complete_orders': (_job: unknown, signal: AbortSignal) => complete(signal),
      'orders.watch_unpaid_stock': watchUnpaid
    },
    hasWork: { 'orders.expire_orders': expiry.hasDue },
    routes: (tiers: Tiers): void => orderAdministrationRoutes(tiers, administration)
  }
}
export type OrderLifecycleServices = ReturnType<typeof setUpOrderLifecycleServices>
