import { defineModule } from '../../module.ts'
import { catalogModule } from '../catalog/index.ts'
import * as guests from './guest/repository.ts'
import { guestCartRoutes } from './guest/routes.ts'
import { createGuestCartService } from './guest/service.ts'
import { mergeRoutes } from './merge/routes.ts'
import { createMergeService } from './merge/service.ts'
import * as carts from './repository.ts'
import { cartRoutes } from './routes.ts'
import { type CartSettings, createCartService } from './service.ts'
import type { Stock } from './stock.ts'

const SWEEP_SECONDS = 300

export const cartModule = defineModule({
  name: 'cart',
  basePaths: ['/api/cart', '/api/guest-cart'],
  requires: { catalog: catalogModule },
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async ({ db, jobs, config }, { catalog }) => {
    const settings: CartSettings = {
      lineQuantityMax: config.cart.line_quantity_max,
      linesMax: config.cart.lines_max,
      idleDays: config.cart.idle_days,
      currency: config.shop.currency
    }
    // Nobody counts stock yet; whoever will, fills this port.
    const stock: Stock | undefined = undefined
    const cart = createCartService({ db, catalog, stock, settings })
    const guest = createGuestCartService({ db, cart })
    const merge = createMergeService({ db, cart, catalog, stock, settings })
    jobs.sweep(SWEEP_SECONDS, 'empty expired carts', () => carts.emptyExpired(db))
    jobs.sweep(SWEEP_SECONDS, 'delete expired guest carts', () => guests.deleteExpired(db, settings.idleDays))

    return {
      api: { view: cart.view, count: cart.count },
      routes: tiers => {
        cartRoutes(tiers, cart)
        mergeRoutes(tiers, merge)
        guestCartRoutes(tiers, guest)
      }
    }
  }
})
