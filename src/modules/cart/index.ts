import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule } from '../inventory/index.ts'
import { marketsOfRequests, pricingModule } from '../pricing/index.ts'
import * as carts from './carts/repository.ts'
import { cartRoutes } from './carts/routes.ts'
import { type CartService, type CartSettings, createCartService } from './carts/service.ts'
import { cartsOfPeople } from './erasure/service.ts'
import { cartMerged } from './events.ts'
import * as guests from './guest/repository.ts'
import { guestCartRoutes } from './guest/routes.ts'
import { createGuestCartService } from './guest/service.ts'
import { mergeRoutes } from './merge/routes.ts'
import { createMergeService } from './merge/service.ts'
import { type CartsOfOrders, createCartsOfOrders } from './orders/service.ts'
import { cartSettings } from './settings.ts'

export { cartMerged } from './events.ts'

const SWEEP_SECONDS = 300
const DAY_SECONDS = 86_400

/** What other modules ask about carts. */
export type CartApi = Pick<CartService & CartsOfOrders, 'view' | 'count' | 'take' | 'giveBack'> & {
  /** The lines of a cart, in their order, and the version that has them. A customer's cart has the customer's id. */
  stored(cartId: string): Promise<carts.StoredCart>
  /** The largest quantity of one line, whoever buys it how. */
  readonly lineQuantityMax: number
  /** The id of the cart that a guest's token opens. @throws `CART_GUEST_NOT_FOUND` */
  idOfGuest(token: string): Promise<string>
}

/** Carts of customers and guests. */
export const cartModule = defineModule({
  name: 'cart',
  description: 'Carts, guest carts and their merge.',
  basePaths: ['/api/cart', '/api/guest-cart'],
  settings: cartSettings,
  capabilities: ['x-guest-cart-token'],
  requires: { catalog: catalogModule },
  uses: { inventory: inventoryModule, pricing: pricingModule },
  emits: [cartMerged],
  migrations: new URL('./migrations/', import.meta.url),
  keepsOfPeople: true,
  setup: async ({ db, emit, chores, config, secrets }, own, { catalog, inventory, pricing }) => {
    const settings: CartSettings = {
      lineQuantityMax: own.line_quantity_max,
      linesMax: own.lines_max,
      idleSeconds: own.idle_days * DAY_SECONDS,
      currency: config.shop.currency
    }
    const cart = createCartService({ db, catalog, inventory, settings })
    const guest = createGuestCartService({ db, cart, secrets, idleSeconds: settings.idleSeconds })
    const merge = createMergeService({ db, emit, cart, catalog, inventory, settings })
    chores.sweep(SWEEP_SECONDS, 'empty expired carts', () => db.run(carts.emptyExpiredCarts))
    chores.sweep(SWEEP_SECONDS, 'delete expired guest carts', () =>
      db.run(guests.deleteExpiredGuestCarts, { keepMergedSeconds: settings.idleSeconds })
    )

    const api: CartApi = {
      ...createCartsOfOrders(settings),
      view: cart.view,
      count: cart.count,
      stored: cart.stored,
      lineQuantityMax: settings.lineQuantityMax,
      idOfGuest: guest.cartIdOf
    }
    return {
      api,
      people: cartsOfPeople(cart),
      routes: (tiers: Tiers) => {
        const marketOf = marketsOfRequests(pricing)
        cartRoutes(tiers, cart, marketOf)
        mergeRoutes(tiers, merge, marketOf)
        guestCartRoutes(tiers, guest, marketOf, own.guest_carts_per_minute)
      }
    }
  }
})
