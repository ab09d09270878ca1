import { definePort } from '../../../kernel/ports.ts'
import type { ComponentTax } from '../quote/input.ts'
import type { TaxableComponent } from '../quote/taxable-components.ts'

/**
 * What a tax engine is asked: the taxes of one basket. Equal baskets are equal requests.
 * @example
 * const amountOf = ({ components }: TaxRequest) => components.reduce((sum, { amountMinor }) => sum + amountMinor, 0)
 */
export type TaxRequest = {
  /** The code of the market. */
  readonly market: string
  readonly currency: string
  /** Whether amounts contain their tax. Otherwise it is added to them. */
  readonly pricesIncludeTax: boolean
  readonly components: readonly TaxableComponent[]
}

/**
 * An external service that computes taxes, in place of the tax rates of the shop.
 * @example
 * const untaxed: TaxEngine = {
 *   computeTaxes: async ({ components }) => components.map(() => ({ ratePpm: 0, taxMinor: 0 }))
 * }
 */
export type TaxEngine = {
  /**
   * Returns the tax of each component, in their order, as for a buyer without an exemption. It is called outside of
   * transactions and has two seconds; then `signal` is aborted, and the rates of the shop apply. An answer is kept for ten
   * minutes. Return taxes for every destination: after five failures in a row no basket is asked for during 15 seconds.
   */
  computeTaxes(request: TaxRequest, signal: AbortSignal): Promise<readonly ComponentTax[]>
}

/** The engine that computes taxes. Without one, the rates of the shop apply. */
export const taxEnginePort = definePort<TaxEngine>('pricing.tax', {
  description: 'Computes the taxes of a basket in an external service.',
  providers: 'one'
})
