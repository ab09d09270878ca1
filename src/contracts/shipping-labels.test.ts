import { expect, test } from 'vitest'
import { brokenCases } from '../../test/support/broken-cases.ts'
import { labelCarrier } from '../../test/support/carrier.ts'
import type { LabelRequest, ShippingLabelProvider } from '../modules/shipping/index.ts'
import { shippingLabelsContract } from './shipping-labels.ts'

const PARCEL: LabelRequest = {
  key: '',
  shipmentId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8e',
  orderId: '0198a6f3-5a0e-7c1b-9d2e-3f4a5b6c7d8f',
  orderNumber: '7Q3M-K0XD',
  service: 'express',
  option: { carrier: 'Swift', name: 'Next day' },
  recipient: {
    name: 'Ada',
    line1: 'Drottninggatan 1',
    postal_code: '111 51',
    city: 'Stockholm',
    country: 'SE'
  },
  weightGrams: 500,
  lines: [{ sku: 'MUG', name: 'Mug', quantity: 2 }]
}

type Carrier = ReturnType<typeof labelCarrier>
/** The cases of the contract for the carrier of the tests, with parts that `change` replaces. */
function casesOf(change: (carrier: Carrier) => Partial<ShippingLabelProvider> = () => ({})) {
  const carrier = labelCarrier()
  const { provider, service, bought, voided } = carrier
  return shippingLabelsContract({
    provider: { ...provider, ...change(carrier) },
    parcel: PARCEL,
    refused: { ...PARCEL, weightGrams: 90_000 },
    charged: () =>
      [...bought].filter(([key]) => !voided.has(key)).map(([, { trackingNumber }]) => trackingNumber),
    service
  })
}

for (const { name, run } of casesOf()) test(`the carrier of the tests: ${name}`, run)

test.each<[string, (carrier: Carrier) => Partial<ShippingLabelProvider>, RegExp]>([
  [
    'buys a label for each request',
    ({ provider }) => ({
      createLabel: (request, signal) => provider.createLabel({ ...request, key: crypto.randomUUID() }, signal)
    }),
    /same key returns the first label/
  ],
  [
    'asks again with another key after a lost answer',
    ({ provider }) => ({
      createLabel: (request, signal) =>
        provider
          .createLabel(request, signal)
          .catch(() => provider.createLabel({ ...request, key: crypto.randomUUID() }, signal))
    }),
    /answer was lost is found by its key/
  ],
  [
    'reports an error as a refusal',
    ({ provider }) => ({
      createLabel: (request, signal) =>
        provider.createLabel(request, signal).catch(() => ({ kind: 'refused', reason: 'It failed.' }))
    }),
    /an error of the service rejects the call/
  ],
  [
    'rejects a parcel that is too heavy',
    ({ provider }) => ({
      createLabel: async (request, signal) => {
        const result = await provider.createLabel(request, signal)
        if (result.kind === 'refused') throw new Error(result.reason)
        return result
      }
    }),
    /a refused request has a reason/
  ],
  [
    'returns no document',
    ({ provider }) => ({
      createLabel: async (request, signal) => ({
        ...(await provider.createLabel(request, signal)),
        document: Buffer.alloc(0)
      })
    }),
    /a label has a carrier, a tracking number and a document/
  ],
  ['voids nothing', () => ({ voidLabel: async () => {} }), /a voided label is not charged/],
  [
    'voids only labels whose tracking number is known',
    ({ provider }) => ({
      voidLabel: async (label, signal) =>
        label.trackingNumber === null ? undefined : provider.voidLabel(label, signal)
    }),
    /answer was lost is voided by its key/
  ],
  [
    'cannot void a label twice',
    ({ provider, voided }) => ({
      voidLabel: async (label, signal) => {
        if (voided.has(label.key)) throw new Error('it is voided')
        return provider.voidLabel(label, signal)
      }
    }),
    /a repeated void changes nothing/
  ],
  [
    'cannot void a label that was never bought',
    ({ provider, bought }) => ({
      voidLabel: async (label, signal) => {
        if (!bought.has(label.key)) throw new Error('it is unknown')
        return provider.voidLabel(label, signal)
      }
    }),
    /never bought is voided without an error/
  ],
  [
    'hides that a void has failed',
    ({ provider }) => ({ voidLabel: (label, signal) => provider.voidLabel(label, signal).catch(() => {}) }),
    /a void that fails is rejected/
  ],
  [
    'ignores the signal',
    ({ provider }) => ({
      createLabel: request => provider.createLabel(request, new AbortController().signal)
    }),
    /an aborted signal ends both calls/
  ]
])('the contract of labels finds a carrier that %s', async (_, change, name) => {
  expect(await brokenCases(() => casesOf(change))).toContainEqual(expect.stringMatching(name))
})
