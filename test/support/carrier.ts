import { provide } from '../../src/kernel/ports.ts'
import { defineModule } from '../../src/module.ts'
import {
  type LabelRequest,
  type LabelResult,
  type ProviderRate,
  type ShippingLabelProvider,
  type ShippingRateProvider,
  shippingLabelsPort,
  shippingModule,
  shippingRatesPort
} from '../../src/modules/shipping/index.ts'
import { failingService } from './failing-service.ts'

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

/** The heaviest parcel for which the carrier sells labels. */
const LABEL_GRAMS_MAX = 30_000

/** A carrier with an account, which charges a label once for each key. `service` lets its requests fail. */
export function labelCarrier() {
  const service = failingService()
  const bought = new Map<string, Extract<LabelResult, { kind: 'label' }>>()
  const voided = new Set<string>()
  const requests: LabelRequest[] = []
  const sell = ({ key, weightGrams, recipient }: LabelRequest): LabelResult => {
    if (weightGrams > LABEL_GRAMS_MAX) return { kind: 'refused', reason: 'Too heavy.' }
    const label = bought.get(key) ?? {
      kind: 'label' as const,
      carrier: 'Swift',
      trackingNumber: `SW${bought.size + 1}`,
      mediaType: 'application/pdf' as const,
      document: Buffer.from(`%PDF ${recipient.name}`)
    }
    bought.set(key, label)
    return label
  }
  const provider: ShippingLabelProvider = {
    createLabel: (request, signal) => {
      requests.push(request)
      return service.request(() => sell(request), signal)
    },
    voidLabel: ({ key }, signal) => service.request(() => void voided.add(key), signal)
  }
  const module = defineModule({
    name: 'labels',
    description: 'Sells labels in tests.',
    basePaths: [],
    requires: { shipping: shippingModule },
    uses: {},
    provides: [shippingLabelsPort],
    setup: async () => ({ api: {}, provides: [provide(shippingLabelsPort, 'swift', provider)] })
  })
  return { module, provider, service, bought, voided, requests }
}
