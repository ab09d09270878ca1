import type { DeliveryDestination } from '../../../kernel/areas.ts'
import { definePort } from '../../../kernel/ports.ts'

/**
 * A parcel to price. It always has a destination.
 * @example
 * const isHeavy = ({ weightGrams }: ParcelToRate): boolean => weightGrams > 20_000
 */
export type ParcelToRate = {
  readonly destination: DeliveryDestination
  readonly weightGrams: number
  /** Value of the goods after discounts, in minor units of `currency`. */
  readonly valueMinor: number
  /** Number of units. */
  readonly items: number
  /** Currency code (ISO 4217) in which the rates must be. */
  readonly currency: string
}

/**
 * A service that delivers the parcel, and its price.
 * @example
 * const priceOf = ({ amountMinor, service }: ProviderRate): string => `${service}: ${amountMinor}`
 */
export type ProviderRate = {
  /** Code of the service at the provider, such as `express`. The id of the option is derived from it, so it must not change. */
  readonly service: string
  /** Name of the service for buyers. */
  readonly name: string
  /** Name of the carrier for buyers. */
  readonly carrier: string
  /** In minor units of the parcel's currency. It includes tax where the prices of the market do. */
  readonly amountMinor: number
  /** Usual days until delivery. Null: unknown. */
  readonly estimatedDays: { readonly min: number; readonly max: number } | null
  /** Tax category of the shop. Null: standard. */
  readonly taxCategory: string | null
}

/**
 * Prices parcels: a carrier, or a broker of several.
 * @example
 * const carrier = { name: 'Post', carrier: 'post', estimatedDays: null, taxCategory: null }
 * const post: ShippingRateProvider = {
 *   listRates: async () => [{ ...carrier, service: 'standard', amountMinor: 490 }]
 * }
 */
export type ShippingRateProvider = {
  /**
   * Returns the services that deliver the parcel; none when it cannot be delivered, or when the provider rejects its
   * destination: after five failures in a row no parcel is asked for during 15 seconds. The same parcel gets the same services,
   * with the same codes. It has about two seconds: then `signal` is aborted and the result is dropped. A rejected call, a late
   * one or an invalid result only omits the options of this provider.
   */
  listRates(parcel: ParcelToRate, signal: AbortSignal): Promise<readonly ProviderRate[]>
}

/** Providers of live shipping options, such as carriers. */
export const shippingRatesPort = definePort<ShippingRateProvider>('shipping.rates', {
  description: 'Returns shipping options with live prices for a parcel.',
  providers: 'many'
})
