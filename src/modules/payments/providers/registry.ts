import { type CircuitBreakerClock, createCircuitBreaker } from '../../../kernel/circuit-breaker.ts'
import { paymentProviderUnknownError } from '../errors.ts'
import type { ParsedPaymentProviderResponse, PaymentProvider } from './port.ts'

/** The providers, the default one first. `onRecovered` runs when a provider has recovered. */
export function createPaymentProviderRegistry(
  all: readonly PaymentProvider[],
  onRecovered: (name: string) => void,
  clock?: CircuitBreakerClock
) {
  const byName = new Map(
    all.map(provider => [
      provider.name,
      { provider, breaker: createCircuitBreaker(() => onRecovered(provider.name), clock) }
    ])
  )
  const names = [...byName.keys()]
  /** Names of providers that customers can choose. A provider without methods still handles its existing payments. */
  const offered = all.filter(({ methods }) => methods.length > 0).map(({ name }) => name)
  const entryOf = (name: string) => {
    const entry = byName.get(name)
    if (entry === undefined) throw paymentProviderUnknownError({ details: { providers: offered } })
    return entry
  }

  return {
    names,
    offered,
    /** @throws `PAYMENT_PROVIDER_UNKNOWN` */
    get: (name: string): PaymentProvider => entryOf(name).provider,
    isDown: (name: string): boolean => entryOf(name).breaker.isOpen(),
    /** Whether a provider that is down may be probed now. */
    isProbeDue: (name: string): boolean => entryOf(name).breaker.isProbeDue(),
    /** Calls a provider through its circuit breaker. While it is down, returns `unknown` without a request. */
    call: async <A extends ParsedPaymentProviderResponse | null>(
      name: string,
      send: () => Promise<A>
    ): Promise<A | ParsedPaymentProviderResponse> => {
      const { breaker } = entryOf(name)
      if (!breaker.tryAdmit()) return { kind: 'unknown', error: 'the provider does not respond at present' }
      const response = await send().catch(
        (error): ParsedPaymentProviderResponse => ({ kind: 'unknown', error: String(error) })
      )
      if (response?.kind === 'unknown') breaker.recordFailure()
      else breaker.recordSuccess()
      return response
    }
  }
}
export type PaymentProviderRegistry = ReturnType<typeof createPaymentProviderRegistry>
