import { provide } from '../../src/kernel/ports.ts'
import { settingsSection, textSetting } from '../../src/kernel/settings.ts'
import { defineModule } from '../../src/module.ts'
import { type TaxEngine, taxEnginePort } from '../../src/modules/pricing/index.ts'
import {
  type ShippingLabelProvider,
  shippingLabelsPort,
  shippingModule
} from '../../src/modules/shipping/index.ts'

export const ENGINE_RATE_PPM = 100_000

const engine: TaxEngine = {
  computeTaxes: async ({ components }) =>
    components.map(({ amountMinor }) => ({
      ratePpm: ENGINE_RATE_PPM,
      taxMinor: Math.round((amountMinor * ENGINE_RATE_PPM) / 1_000_000)
    }))
}
/** Buys labels of the carrier at this URL, which charges once for each key. */
const labelsOf = (url: string): ShippingLabelProvider => ({
  createLabel: async ({ key }, signal) => {
    const { ok } = await fetch(`${url}/${key}`, { method: 'POST', signal })
    if (!ok) throw new Error('the carrier sold no label')
    const document = Buffer.from('%PDF')
    return { kind: 'label', carrier: 'Swift', trackingNumber: key, mediaType: 'application/pdf', document }
  },
  voidLabel: async () => {}
})

/** A tax engine, and a provider of labels whose carrier runs in another process. */
export const providerModule = defineModule({
  name: 'providers',
  description: 'Computes taxes and buys labels in tests.',
  basePaths: [],
  settings: settingsSection('Providers.', { carrier_url: textSetting('The carrier that sells labels.', '') }),
  requires: { shipping: shippingModule },
  uses: {},
  provides: [taxEnginePort, shippingLabelsPort],
  setup: async (_platform, { carrier_url }) => ({
    api: {},
    provides: [
      provide(taxEnginePort, 'abacus', engine),
      provide(shippingLabelsPort, 'swift', labelsOf(carrier_url))
    ]
  })
})
