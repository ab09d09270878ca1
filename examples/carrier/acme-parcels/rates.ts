import type { ShippingRateProvider } from 'cartwright'
import { CARRIER, SERVICES, type SendToAcme, unexpected } from './client.ts'

/** A service as Acme Parcels returns it. `price` is in minor units. */
type AcmeRate = {
  readonly service: string
  readonly price: number
  readonly currency: string
  readonly days: { readonly min: number; readonly max: number }
}

/** Live prices of Acme Parcels. */
export const createAcmeRates = (send: SendToAcme): ShippingRateProvider => ({
  listRates: async ({ destination, weightGrams, currency }, signal) => {
    const { country, postalCode = null } = destination
    const body = { country, postal_code: postalCode, weight_grams: weightGrams }
    const { status, json } = await send({ method: 'POST', path: '/rates', body, signal })
    if (status !== 200) throw unexpected(status)
    const { rates } = json as { readonly rates: readonly AcmeRate[] }
    return rates
      .filter(rate => rate.currency === currency && rate.service in SERVICES)
      .map(({ service, price, days }) => ({
        service,
        name: SERVICES[service] ?? service,
        carrier: CARRIER,
        amountMinor: price,
        estimatedDays: days,
        taxCategory: null
      }))
  }
})
