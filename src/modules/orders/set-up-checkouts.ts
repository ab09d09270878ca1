import type { Tiers } from '../../gateway/routing/tiers.ts'
import { lowestIdAt } from '../../kernel/ids.ts'
import type { ModulePlatform } from '../../module.ts'
import type { AuthApi } from '../auth/index.ts'
import type { CartApi } from '../cart/index.ts'
import type { CatalogApi } from '../catalog/index.ts'
import type { InventoryApi } from '../inventory/index.ts'
import type { PricingApi } from '../pricing/index.ts'
import type { ShippingApi } from '../shipping/index.ts'
import { createPromotionCodeGuessLimiter } from './checkouts/code-guesses.ts'
import { guestCheckoutRoutes } from './checkouts/guest-routes.ts'
import { createCheckoutPricer } from './checkouts/pricer.ts'
import { createCheckoutInputReader } from './checkouts/read-input.ts'
import { deleteExpiredCheckouts } from './checkouts/repository.ts'
import { checkoutRoutes } from './checkouts/routes.ts'
import { CHECKOUT_LINE_QUANTITY_MAX } from './checkouts/schema.ts'
import { createCheckoutService } from './checkouts/service.ts'
import { countryRoutes } from './countries/routes.ts'
import { createAddressFormatService } from './countries/service.ts'
import { createOrderChecks } from './order-checks/service.ts'
import type { OrdersSettings } from './settings.ts'

const MINUTE_SECONDS = 60
const DELETE_SECONDS = 300
/**
 * Seconds that an expired checkout stays readable. It is short because clients can create any number of
 * checkouts.
 */
const READABLE_SECONDS = 3_600

type Apis = {
  readonly auth: AuthApi | undefined
  readonly catalog: CatalogApi
  readonly pricing: PricingApi
  readonly inventory: InventoryApi | undefined
  readonly shipping: ShippingApi | undefined
  readonly cart: CartApi | undefined
}

/** Creates the services that are used before an order exists: address rules, checkouts and their prices. */
export function setUpCheckoutServices(
  { config, db, log, openBudget, ports, timers, secrets }: ModulePlatform,
  settings: OrdersSettings,
  { auth, catalog, pricing, inventory, shipping, cart }: Apis
) {
  // The quantity limit of a cart also holds for items that are ordered without one.
  const lineQuantityMax = cart?.lineQuantityMax ?? CHECKOUT_LINE_QUANTITY_MAX
  const readCheckoutInput = createCheckoutInputReader({ pricing, cart })
  const priceCheckout = createCheckoutPricer({ auth, catalog, pricing, inventory, shipping, lineQuantityMax })
  const expiresAfterSeconds = settings.checkout_minutes * MINUTE_SECONDS
  const codesPerMinute = config.rate_limit.enabled
    ? settings.unknown_codes_per_minute
    : Number.POSITIVE_INFINITY
  const limitCodeGuesses = createPromotionCodeGuessLimiter(openBudget('orders.codes', codesPerMinute))
  const checks = createOrderChecks({ ports, log })
  const checkouts = createCheckoutService({
    db,
    secrets,
    cart,
    expiresAfterSeconds,
    readCheckoutInput,
    priceCheckout,
    findCheckFindings: checks.findingsOf,
    limitCodeGuesses
  })
  const countries = createAddressFormatService({ pricing, shipping })
  timers.untilEmpty(DELETE_SECONDS, 'delete expired checkouts', () =>
    db.run(deleteExpiredCheckouts, {
      keptSeconds: READABLE_SECONDS,
      before: lowestIdAt(new Date(Date.now() - 1_000 * (READABLE_SECONDS + expiresAfterSeconds)))
    })
  )
  return {
    readCheckoutInput,
    priceCheckout,
    checks,
    checkouts,
    limitCodeGuesses,
    routes: (tiers: Tiers): void => {
      countryRoutes(tiers, countries)
      checkoutRoutes(tiers, checkouts, settings.checkouts_per_minute)
      guestCheckoutRoutes(tiers, checkouts, settings.checkouts_per_minute)
    }
  }
}
export type CheckoutServices = ReturnType<typeof setUpCheckoutServices>
