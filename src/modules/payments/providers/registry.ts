import { providerUnknown } from '../errors.ts'
import { type Clock, createBreaker } from './breaker.ts'
import type { Answer, Provider } from './port.ts'

/** Those who can be paid, the usual one first. `onBack`: one of them answers again. */
export function createProviders(all: readonly Provider[], onBack: (name: string) => void, clock?: Clock) {
  const byName = new Map(
    all.map(provider => [
      provider.name,
      { provider, breaker: createBreaker(() => onBack(provider.name), clock) }
    ])
  )
  const names = [...byName.keys()]
  /** Those that customers can choose. One without methods still settles the payments that it has. */
  const offered = all.filter(({ methods }) => methods.length > 0).map(({ name }) => name)
  const entryOf = (name: string) => {
    const entry = byName.get(name)
    if (entry === undefined) throw providerUnknown({ details: { providers: offered } })
    return entry
  }

  return {
    names,
    offered,
    /** @throws `PAYMENT_PROVIDER_UNKNOWN` */
    get: (name: string): Provider => entryOf(name).provider,
    isDown: (name: string): boolean => entryOf(name).breaker.isOpen(),
    /** Whether one that is down is to be asked again, to find out. */
    isAskable: (name: string): boolean => entryOf(name).breaker.isAskable(),
    /** Asks, unless it is known that nobody answers. */
    guard: async <A extends Answer | null>(name: string, ask: () => Promise<A>): Promise<A | Answer> => {
      const { breaker } = entryOf(name)
      if (!breaker.admits()) return { kind: 'unknown', error: 'the provider does not answer at present' }
      const answer = await ask().catch((error): Answer => ({ kind: 'unknown', error: String(error) }))
      if (answer?.kind === 'unknown') breaker.failed()
      else breaker.answered()
      return answer
    }
  }
}
export type Providers = ReturnType<typeof createProviders>
