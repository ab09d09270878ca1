import type { Tiers } from '../../gateway/routing/tiers.ts'
import { defineModule } from '../../module.ts'
import { createChanges, keep } from '../../platform/kept.ts'
import { catalogModule } from '../catalog/index.ts'
import { methodRoutes } from './methods/routes.ts'
import { createMethodService } from './methods/service.ts'
import { optionRoutes } from './options/routes.ts'
import { createOptionService } from './options/service.ts'
import { type Parcel, ratesOf, type ShippingOption } from './rates/options.ts'
import { rateRoutes } from './rates/routes.ts'
import { createRateService } from './rates/service.ts'
import { createFirstRules, type FirstRules } from './rules/first.ts'
import { readRules } from './rules/service.ts'
import { zoneRoutes } from './zones/routes.ts'
import { createZoneService } from './zones/service.ts'

/** What other modules ask about shipping. */
export type ShippingApi = {
  /**
   * What it costs to send a parcel, by the rules of this moment: the ways to send it, cheapest first. From memory, and
   * current within a second.
   */
  rates(): Promise<(parcel: Parcel) => ShippingOption[]>
  /** Makes these zones, methods and rates where there are none at all, and answers whether it did. */
  createFirst(rules: FirstRules): Promise<boolean>
}

/** Where the shop sends to, how, and what that costs. */
export const shippingModule = defineModule({
  name: 'shipping',
  description: 'Where the shop sends to, how, and what that costs.',
  basePaths: ['/api/shipping', '/api/admin/shipping'],
  requires: { catalog: catalogModule },
  uses: {},
  migrations: new URL('./migrations/', import.meta.url),
  setup: async ({ config, db, broadcast }, _settings, { catalog }) => {
    const { currency } = config.shop
    const changes = createChanges(broadcast, 'shipping')
    const ratesNow = keep(changes, async () => {
      const rules = await readRules(db)
      return (parcel: Parcel) => ratesOf(rules, parcel)
    })
    const api: ShippingApi = {
      rates: ratesNow,
      createFirst: rules => createFirstRules({ db, changes, currency }, rules)
    }
    const options = createOptionService({ catalog, rates: ratesNow, currency })
    const zones = createZoneService({ db, changes })
    const methods = createMethodService({ db, changes })
    const rates = createRateService({ db, changes, currency })
    const routes = (tiers: Tiers) => {
      optionRoutes(tiers, options)
      zoneRoutes(tiers, zones)
      methodRoutes(tiers, methods)
      rateRoutes(tiers, rates)
    }
    return { api, routes }
  }
})
