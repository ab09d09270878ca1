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

/** A carrier with an account: it charges a label once for each key. `answers`: what goes wrong, in the order of calls. */
export function labelCarrier(answers: (Error | LabelResult)[] = []) {
  const bought = new Map<string, Extract<LabelResult, { kind: 'label' }>>()
  const voided = new Set<string>()
  const requests: LabelRequest[] = []
  const provider: ShippingLabelProvider = {
    createLabel: async request => {
      requests.push(request)
      const answer = answers.shift()
      if (answer !== undefined && !(answer instanceof Error)) return answer
      const label = bought.get(request.key) ?? {
        kind: 'label' as const,
        carrier: 'Swift',
        trackingNumber: `SW${bought.size + 1}`,
        mediaType: 'application/pdf' as const,
        document: Buffer.from(`%PDF ${request.recipient.name}`)
      }
      bought.set(request.key, label)
      // The response is lost after the label was bought.
      if (answer instanceof Error) throw answer
      return label
    },
    voidLabel: async ({ key }) => {
      voided.add(key)
    }
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
  return { module, bought, voided, requests }
}
