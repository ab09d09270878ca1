import { expect, test } from 'vitest'
import { brokenCases } from '../../test/support/broken-cases.ts'
import { EXPRESS } from '../../test/support/carrier.ts'
import { failingService } from '../../test/support/failing-service.ts'
import type { ParcelToRate, ShippingRateProvider } from '../modules/shipping/index.ts'
import { shippingRatesContract } from './shipping-rates.ts'

const PARCEL: ParcelToRate = {
  destination: { country: 'SE', region: undefined, postalCode: '11151' },
  weightGrams: 500,
  valueMinor: 2_000,
  items: 2,
  currency: 'EUR'
}
const ECO = { ...EXPRESS, service: 'eco', name: 'Economy', amountMinor: 300 }

type ListRates = ShippingRateProvider['listRates']
/** The cases of the contract for a carrier that delivers to Sweden for euros, with a function that replaces its own. */
function casesOf(change: (listRates: ListRates) => ListRates = listRates => listRates) {
  const service = failingService()
  const listRates: ListRates = ({ destination, currency }, signal) =>
    service.request(() => (destination.country === 'SE' && currency === 'EUR' ? [EXPRESS, ECO] : []), signal)
  return shippingRatesContract({
    provider: { listRates: change(listRates) },
    parcel: PARCEL,
    undeliverable: { ...PARCEL, destination: { country: 'AQ' } },
    otherCurrency: 'JPY',
    service
  })
}

for (const { name, run } of casesOf()) test(`a carrier in memory: ${name}`, run)

test.each<[string, (listRates: ListRates) => ListRates, RegExp]>([
  [
    'returns amounts with a fraction',
    list => async (parcel, signal) =>
      (await list(parcel, signal)).map(rate => ({ ...rate, amountMinor: rate.amountMinor / 1_000 })),
    /a parcel has valid rates/
  ],
  [
    'returns another code for each call',
    list => async (parcel, signal) =>
      (await list(parcel, signal)).map(rate => ({ ...rate, service: crypto.randomUUID() })),
    /always has the same services/
  ],
  [
    'rejects a parcel that cannot be delivered',
    list => async (parcel, signal) => {
      const rates = await list(parcel, signal)
      if (rates.length === 0) throw new Error('unknown country')
      return rates
    },
    /cannot be delivered has no rates/
  ],
  [
    'ignores the currency',
    list => (parcel, signal) => list({ ...parcel, currency: 'EUR' }, signal),
    /in a currency without prices/
  ],
  [
    'needs a complete postal code',
    list => async (parcel, signal) => {
      if ((parcel.destination.postalCode ?? '').length < 5) throw new Error('no postal code')
      return list(parcel, signal)
    },
    /incomplete or unknown destination/
  ],
  [
    'returns the rates of another parcel',
    list => {
      let pending: ReturnType<ListRates> | undefined
      return (parcel, signal) => {
        pending ??= list(parcel, signal).finally(() => {
          pending = undefined
        })
        return pending
      }
    },
    /simultaneous calls get the rates of their own parcels/
  ],
  [
    'returns no rates while the service fails',
    list => (parcel, signal) => list(parcel, signal).catch(() => []),
    /a service that fails rejects the call/
  ],
  ['ignores the signal', list => parcel => list(parcel, new AbortController().signal), /an aborted signal/]
])('the contract of rates finds a carrier that %s', async (_, change, name) => {
  expect(await brokenCases(() => casesOf(change))).toContainEqual(expect.stringMatching(name))
})
