import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule } from '../inventory/index.ts'
import { createRequestMarketResolver, pricingModule } from '../pricing/index.ts'
import * as carts from './carts/repository.ts'
import { cartRoutes } from './carts/routes.ts'
import { type CartService, type CartServiceSettings, createCartService } from './carts/service.ts'
import { cartPersonalData } from './erasure/service.ts'
import { cartMergedEvent } from './events.ts'
import * as guests from './guest/repository.ts'
import { guestCartRoutes } from './guest/routes.ts'
import { createGuestCartService } from './guest/service.ts'
import { cartMergeRoutes } from './merge/routes.ts'
import { createCartMergeService } from './merge/service.ts'
import { type CartOrderOperations, createCartOrderOperations } from './orders/service.ts'
import { cartSettings } from './settings.ts'

export { cartMergedEvent } from './events.ts'

const SWEEP_SECONDS = 300
const DAY_SECONDS = 86_400

/** The API of carts for other modules. */
export type CartApi = Pick<
  CartService & CartOrderOperations,
  'view' | 'count' | 'emptyForOrder' | 'restoreLines'
> & {
  /**
   * Returns the lines of a cart in their order, and its version. The id of a customer's cart is the
   * customer's id.
   */
  findStored(cartId: string): Promise<carts.StoredCartWithId>
  /** The maximum quantity of a line, for customers and guests, in carts and direct purchases. */
  readonly lineQuantityMax: number
  /** Returns the cart of a guest cart token, and its id. @throws `CART_GUEST_NOT_FOUND` */
  findStoredOfGuest(token: string): Promise<carts.StoredCartWithId>
}

/** Carts of customers and guests. */
export const cartModule = defineModule({
  name: 'cart',
  description: 'Carts, guest carts and their merge.',
  tags: { 'guest cart': 'Carts without an account. `X-Guest-Cart-Token` proves access.' },
  basePaths: ['/api/cart', '/api/guest-cart'],
  settings: cartSettings,
  credentialHeaders: ['x-guest-cart-token'],
  requires: { catalog: catalogModule },
  uses: { inventory: inventoryModule, pricing: pricingModule },
  emits: [cartMergedEvent],
  migrations: new URL('./migrations/', import.meta.url),
  personalData: true,
  setup: async ({ db, emit, timers, config, secrets }, own, { catalog, inventory, pricing }) => {
    const settings: CartServiceSettings = {
      lineQuantityMax: own.line_quantity_max,
      linesMax: own.lines_max,
      idleSeconds: own.idle_days * DAY_SECONDS,
      currency: config.shop.currency
    }
    const cart = createCartService({ db, catalog, inventory, settings })
    const guest = createGuestCartService({ db, cart, secrets, idleSeconds: settings.idleSeconds })
    const merge = createCartMergeService({ db, emit, cart, catalog, inventory, settings })
    timers.untilEmpty(SWEEP_SECONDS, 'empty expired carts', () => db.run(carts.emptyExpiredCustomerCarts))
    timers.untilEmpty(SWEEP_SECONDS, 'delete expired guest carts', () =>
      db.run(guests.deleteExpiredGuestCarts, { keepMergedSeconds: settings.idleSeconds })
    )

    const api: CartApi = {
      ...createCartOrderOperations(settings),
      view: cart.view,
      count: cart.count,
      findStored: cart.findStored,
      lineQuantityMax: settings.lineQuantityMax,
      findStoredOfGuest: guest.findStored
    }
    return {
      api,
      personalData: cartPersonalData(cart),
      routes: (tiers: Tiers) => {
        const marketOf = createRequestMarketResolver(pricing)
        cartRoutes(tiers, cart, marketOf)
        cartMergeRoutes(tiers, merge, marketOf)
        guestCartRoutes(tiers, { cart, guests: guest }, marketOf, own.guest_carts_per_minute)
      }
    }
  }
})
