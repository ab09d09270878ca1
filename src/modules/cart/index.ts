import type { Tiers } from '../../gateway/routing/tiers.ts'
import { marketNamed } from '../../kernel/wire.ts'
import { defineModule } from '../../module.ts'
import { catalogModule } from '../catalog/index.ts'
import { inventoryModule } from '../inventory/index.ts'
import { type MarketOf, pricingModule } from '../pricing/index.ts'
import * as carts from './carts/repository.ts'
import { cartRoutes } from './carts/routes.ts'
import { type CartSettings, createCartService } from './carts/service.ts'
import { cartMerged } from './events.ts'
import * as guests from './guest/repository.ts'
import { guestCartRoutes } from './guest/routes.ts'
import { createGuestCartService } from './guest/service.ts'
import { mergeRoutes } from './merge/routes.ts'
import { createMergeService } from './merge/service.ts'
import { cartSettings } from './settings.ts'

export { cartMerged } from './events.ts'

const SWEEP_SECONDS = 300
const DAY_SECONDS = 86_400

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

    return {
      api: { view: cart.view, count: cart.count },
      routes: (tiers: Tiers) => {
        const marketOf: MarketOf = async request =>
          pricing === undefined ? null : pricing.markets.resolve({ name: marketNamed(request) })
        cartRoutes(tiers, cart, marketOf)
        mergeRoutes(tiers, merge, marketOf)
        guestCartRoutes(tiers, guest, marketOf, own.guest_carts_per_minute)
      }
    }
  }
})
