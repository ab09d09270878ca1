import assert from 'node:assert/strict'
import {
  findProviderRatesFault,
  type ParcelToRate,
  type ProviderRate,
  type ShippingRateProvider
} from '../modules/shipping/index.ts'
import {
  assertEndsWhenAborted,
  assertRejectsFailures,
  callWithCopy,
  type ExternalServiceControls
} from './external-service.ts'
import type { ContractCase } from './tender.ts'

/**
 * A provider of rates under test, with what a test needs to know and control of the service behind it.
 * @example
 * type Subject = ShippingRatesContractSubject
 * const subjectOf = (provider: ShippingRateProvider, parcel: ParcelToRate): Subject => ({ provider, parcel })
 */
export type ShippingRatesContractSubject = {
  readonly provider: ShippingRateProvider
  /** A parcel that it delivers. */
  readonly parcel: ParcelToRate
  /** A parcel that it does not deliver. Absent: it delivers every parcel. */
  readonly undeliverable?: ParcelToRate
  /** A currency in which it has no prices. Absent: it has prices in every currency. */
  readonly otherCurrency?: string
  /** Absent: the provider calls no service. */
  readonly service?: ExternalServiceControls
}

/**
 * The contract of `shipping.rates`, for the tests of a provider. Run each case as a test.
 * @example
 * const register = (
 *   subject: ShippingRatesContractSubject,
 *   test: (name: string, run: () => Promise<void>) => void
 * ) => {
 *   for (const { name, run } of shippingRatesContract(subject)) test(name, run)
 * }
 * assert.equal(register.length, 2)
 */
export function shippingRatesContract({
  provider,
  parcel,
  undeliverable,
  otherCurrency,
  service
}: ShippingRatesContractSubject): readonly ContractCase[] {
  const listRates: ShippingRateProvider['listRates'] = async (of, signal) => provider.listRates(of, signal)
  const ratesOf = async (of: ParcelToRate): Promise<readonly ProviderRate[]> => {
    const rates = await callWithCopy(of, listRates)
    assert.equal(findProviderRatesFault(rates), undefined)
    return rates
  }
  const servicesOf = async (of: ParcelToRate) => (await ratesOf(of)).map(each => each.service).toSorted()

  return [
    {
      name: 'a parcel has valid rates, each of another service, and is not changed',
      run: async () => {
        assert.ok((await ratesOf(parcel)).length > 0, 'the parcel has no rates')
      }
    },
    {
      name: 'the same parcel always has the same services',
      run: async () => {
        const services = await servicesOf(parcel)
        assert.deepEqual(await servicesOf(parcel), services)
      }
    },
    {
      name: 'a parcel that cannot be delivered has no rates, which is no error',
      run: async () => {
        if (undeliverable === undefined) return
        assert.deepEqual(await ratesOf(undeliverable), [])
      }
    },
    {
      name: 'a parcel in a currency without prices has no rates, which is no error',
      run: async () => {
        if (otherCurrency === undefined) return
        assert.deepEqual(await ratesOf({ ...parcel, currency: otherCurrency }), [])
      }
    },
    {
      name: 'an incomplete or unknown destination, and goods without value, are no error',
      run: async () => {
        const { country } = parcel.destination
        // A buyer is still typing. Five rejected calls in a row would pause the provider for all buyers.
        for (const destination of [
          { country },
          { country, postalCode: '1' },
          { country, postalCode: '00000' }
        ])
          await ratesOf({ ...parcel, destination })
        await ratesOf({ ...parcel, destination: { country, region: 'XX', postalCode: '00000' } })
        await ratesOf({ ...parcel, valueMinor: 0 })
      }
    },
    {
      name: 'simultaneous calls get the rates of their own parcels',
      run: async () => {
        const expected = await servicesOf(parcel)
        const parcels = Array.from({ length: 4 }, () => [parcel, undeliverable ?? parcel]).flat()
        const found = await Promise.all(parcels.map(servicesOf))
        assert.deepEqual(
          found,
          parcels.map(each => (each === parcel ? expected : []))
        )
      }
    },
    {
      name: 'a service that fails rejects the call, because a list without rates would be kept, and the next call succeeds',
      run: async () => {
        if (service !== undefined) await assertRejectsFailures(service, signal => listRates(parcel, signal))
      }
    },
    {
      name: 'an aborted signal ends a call while the service hangs',
      run: async () => {
        if (service === undefined) return
        await assertEndsWhenAborted(service, signal => listRates(parcel, signal))
        await ratesOf(parcel)
      }
    }
  ]
}
