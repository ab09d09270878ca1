import type { Tiers } from '../../gateway/routing/tiers.ts'
import type { ModulePlatform } from '../../module.ts'
import type { AuthApi } from '../auth/index.ts'
import type { CartApi } from '../cart/index.ts'
import type { InventoryApi } from '../inventory/index.ts'
import type { OrderPayments } from '../payments/index.ts'
import type { PricingApi } from '../pricing/index.ts'
import type { ShippingApi } from '../shipping/index.ts'
import { orderQuoteRoutes } from './assisted-orders/quote-routes.ts'
import { createOrderQuoteService } from './assisted-orders/quote-service.ts'
import { assistedOrderRoutes } from './assisted-orders/routes.ts'
import { createAssistedOrderService } from './assisted-orders/service.ts'
import { createBuyerLimitKeyFinder } from './buyers/service.ts'
import { createOrderAndCheckoutCommands } from './commands/service.ts'
import { orderClaimRoutes } from './orders/claim-routes.ts'
import { createOrderClaimService } from './orders/claim-service.ts'
import { guestOrderRoutes } from './orders/guest-routes.ts'
import { createOrderMessageSummaryReader } from './orders/message-summary-service.ts'
import { createOrderNumberGenerator } from './orders/order-number-sequence.ts'
import { orderRoutes } from './orders/routes.ts'
import { createOrderService, type OrderTokens } from './orders/service.ts'
import { createOrderPlacement } from './placement/service.ts'
import type { CheckoutServices } from './set-up-checkouts.ts'
import type { OrderLifecycleServices } from './set-up-lifecycle.ts'
import type { OrdersSettings } from './settings.ts'
import { createTenderPreview } from './tenders/preview.ts'
import { tenderPreviewRoutes } from './tenders/preview-routes.ts'

type Apis = {
  readonly auth: AuthApi | undefined
  readonly pricing: PricingApi
  readonly inventory: InventoryApi | undefined
  readonly payments: OrderPayments | undefined
  readonly shipping: ShippingApi | undefined
  readonly cart: CartApi | undefined
}
type Parts = {
  readonly checkouts: CheckoutServices
  readonly lifecycle: OrderLifecycleServices
  readonly tokens: OrderTokens
}

/**
 * Creates the services that create and read orders: placement, orders of customers and guests, claims,
 * assisted orders and quotes.
 */
export function setUpOrderPlacementServices(
  { db, emit, secrets }: ModulePlatform,
  settings: OrdersSettings,
  { auth, pricing, inventory, payments, shipping, cart }: Apis,
  {
    checkouts: { readCheckoutInput, priceCheckout, checks, checkouts, limitCodeGuesses },
    lifecycle,
    tokens
  }: Parts
) {
  const { changes, cancellations, fulfilment, unpaidStock, evictions, tenders, paymentTimeouts } = lifecycle
  const findBuyerKeys = createBuyerLimitKeyFinder({ secrets, auth })
  const placement = createOrderPlacement({
    db,
    secrets,
    emit,
    findBuyerKeys,
    priceCheckout,
    checks,
    nextOrderNumber: createOrderNumberGenerator(db),
    changes,
    fulfilment,
    evictions,
    unpaidStock,
    tenders,
    pricing,
    inventory,
    payments,
    shipping,
    cart,
    pendingMax: { ofBuyer: settings.pending_per_buyer, ofNetwork: settings.pending_per_address },
    paymentTimeouts
  })
  const orders = createOrderService({
    db,
    checkouts,
    readCheckoutInput,
    placement,
    payments,
    cancellations,
    tokens,
    limitCodeGuesses,
    policy: settings.customer_cancel
  })
  const claims = createOrderClaimService({ db, changes, emit, orders, tokens, shipping })
  const assistedOrders = createAssistedOrderService({ db, orders, payments, tokens })
  const quotes = createOrderQuoteService({ db, readCheckoutInput, priceCheckout, findBuyerKeys, pricing })
  const previewTenders = createTenderPreview({ db, checkouts, priceCheckout, tenders })
  return {
    commands: createOrderAndCheckoutCommands({
      db,
      checkouts,
      orders,
      updateMetadata: lifecycle.updateMetadata
    }),
    orderSummaries: createOrderMessageSummaryReader({ pricing }),
    routes: (tiers: Tiers): void => {
      orderRoutes(tiers, orders, settings.orders_per_minute)
      guestOrderRoutes(tiers, orders, settings.orders_per_minute)
      orderClaimRoutes(tiers, claims)
      assistedOrderRoutes(tiers, assistedOrders)
      orderQuoteRoutes(tiers, quotes)
      tenderPreviewRoutes(tiers, previewTenders, settings.checkouts_per_minute)
    }
  }
}
