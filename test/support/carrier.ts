import { provide } from '../../src/kernel/ports.ts'
import { defineModule } from '../../src/module.ts'
import {
  type ProviderRate,
  type ShippingRateProvider,
  shippingModule,
  shippingRatesPort
} from '../../src/modules/shipping/index.ts'

export const EXPRESS: ProviderRate = {
  service: 'express',
  name: 'Next day',
  carrier: 'Swift',
  amountMinor: 700,
  estimatedDays: { min: 1, max: 1 },
  taxCategory: null
}

/** A module that provides rates under each of these names. */
export const carrierModule = (listRates: Readonly<Record<string, ShippingRateProvider['listRates']>>) =>
  defineModule({
    name: 'carriers',
    description: 'Prices parcels in tests.',
    basePaths: [],
    requires: { shipping: shippingModule },
    uses: {},
    provides: [shippingRatesPort],
    setup: async () => ({
      api: {},
      provides: Object.entries(listRates).map(([name, list]) =>
        provide(shippingRatesPort, name, { listRates: list })
      )
    })
  })
