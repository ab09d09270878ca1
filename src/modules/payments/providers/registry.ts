import { callWithTimeout } from '../../../kernel/call-with-timeout.ts'
import { type CircuitBreakerClock, createCircuitBreaker } from '../../../kernel/circuit-breaker.ts'
import type { PortProvider } from '../../../kernel/ports.ts'
import { paymentProviderUnknownError } from '../errors.ts'
import type { PaymentsSettings } from '../settings.ts'
import type { ParsedPaymentProviderResponse, PaymentProvider } from './port.ts'
import { SANDBOX_NAME } from './sandbox.ts'

/** Longest wait for a provider, in milliseconds. It is shorter than the deadline of requests that wait for it. */
const CALL_MS_MAX = 10_000

type Deps = {
  /** Returns the providers of the port. */
  read: () => readonly PortProvider<PaymentProvider>[]
  settings: Pick<PaymentsSettings, 'default_provider' | 'retired_providers'>
  /** Runs when a provider has recovered. */
  onRecovered: (name: string) => void
  clock?: CircuitBreakerClock
}

/** The providers by name. It reads the port at the first call, because most providers are set up after payments. */
export function createPaymentProviderRegistry({ read, settings, onRecovered, clock }: Deps) {
  let opened: ReturnType<typeof open> | undefined
  function open() {
    const all = sortPaymentProviders(read(), settings.default_provider).map(({ name, provider }) => ({
      name,
      provider,
      methods: settings.retired_providers.includes(name) ? [] : provider.methods,
      breaker: createCircuitBreaker(() => onRecovered(name), clock)
    }))
    const offered = all.filter(({ methods }) => methods.length > 0)
    return {
      byName: new Map(all.map(each => [each.name, each])),
      names: all.map(({ name }) => name),
      offered: offered.map(({ name }) => name)
    }
  }
  const entries = () => {
    opened ??= open()
    return opened
  }
  const entryOf = (name: string) => {
    const { byName, offered } = entries()
    const entry = byName.get(name)
    if (entry === undefined) throw paymentProviderUnknownError({ details: { providers: offered } })
    return entry
  }

  return {
    /** Names of all providers, the default one first. */
    names: (): readonly string[] => entries().names,
    /** Names of the providers that customers can choose, the default one first. */
    offered: (): readonly string[] => entries().offered,
    /** Methods that customers can choose. A provider without methods still handles its existing payments. */
    methodsOf: (name: string): readonly string[] => entryOf(name).methods,
    /** @throws `PAYMENT_PROVIDER_UNKNOWN` */
    get: (name: string): PaymentProvider => entryOf(name).provider,
    isDown: (name: string): boolean => entryOf(name).breaker.isOpen(),
    /** Whether a provider that is down may be probed now. */
    isProbeDue: (name: string): boolean => entryOf(name).breaker.isProbeDue(),
    /**
     * Calls a provider through its circuit breaker. Returns `unknown` after ten seconds, and without a request while it is down.
     */
    call: async <A extends ParsedPaymentProviderResponse | null>(
      name: string,
      send: () => Promise<A>
    ): Promise<A | ParsedPaymentProviderResponse> => {
      const { breaker } = entryOf(name)
      if (!breaker.tryAdmit()) return { kind: 'unknown', error: 'the provider does not respond at present' }
      const response = await callWithTimeout(CALL_MS_MAX, send).catch(
        (error): ParsedPaymentProviderResponse => ({ kind: 'unknown', error: String(error) })
      )
      if (response?.kind === 'unknown') breaker.recordFailure()
      else breaker.recordSuccess()
      return response
    }
  }
}
export type PaymentProviderRegistry = ReturnType<typeof createPaymentProviderRegistry>

/**
 * Sorts providers in the order in which the shop prefers them: the default one, providers that take payments themselves, the
 * sandbox, offline ones. Providers of one rank keep their order.
 */
const sortPaymentProviders = (
  providers: readonly PortProvider<PaymentProvider>[],
  defaultName: string
): PortProvider<PaymentProvider>[] => {
  const rankOf = ({ name, provider: { kind } }: PortProvider<PaymentProvider>) =>
    name === defaultName ? 0 : kind === 'offline' ? 3 : name === SANDBOX_NAME ? 2 : 1
  return providers.toSorted((a, b) => rankOf(a) - rankOf(b))
}
