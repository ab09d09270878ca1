import { amountBeforeRatePpm, multiplyByRatePpm } from '../../../kernel/money.ts'
import type { ComponentTax } from '../quote/input.ts'
import type { TaxableComponent } from '../quote/taxable-components.ts'
import type { TaxRequest } from './port.ts'

const PPM_MAX = 1_000_000

/** Returns why an answer does not fit its request, as a sentence; `undefined` when it does. Pure. */
export function findTaxAnswerFault(
  answer: unknown,
  { components, pricesIncludeTax }: Pick<TaxRequest, 'components' | 'pricesIncludeTax'>
): string | undefined {
  if (!Array.isArray(answer) || answer.length !== components.length)
    return `A tax engine must return a list of ${components.length} taxes, one for each component.`
  for (const [index, component] of components.entries()) {
    const fault = faultOfTax(answer[index] ?? {}, component, pricesIncludeTax)
    if (fault !== undefined) return `Component ${index}: ${fault}`
  }
  return undefined
}

function faultOfTax(
  { ratePpm, taxMinor }: Partial<ComponentTax>,
  { amountMinor, quantity }: TaxableComponent,
  isIncluded: boolean
): string | undefined {
  if (!isAmount(ratePpm) || ratePpm > PPM_MAX)
    return `ratePpm is ${ratePpm}, but a rate is an integer from 0 to ${PPM_MAX}.`
  if (!isAmount(taxMinor) || taxMinor > amountMinor)
    return `taxMinor is ${taxMinor}, but a tax is an integer from 0 to the amount ${amountMinor}.`
  const exact = isIncluded
    ? amountMinor - amountBeforeRatePpm(amountMinor, ratePpm)
    : multiplyByRatePpm(amountMinor, ratePpm)
  return Math.abs(taxMinor - exact) > roundingOf(amountMinor, quantity)
    ? `taxMinor is ${taxMinor}, but ${ratePpm} ppm of ${amountMinor} is ${exact}.`
    : undefined
}

/** An engine may round each unit, several taxes of one component, and the rate to parts per million. */
const roundingOf = (amountMinor: number, quantity: number) => quantity + 1 + Math.ceil(amountMinor / PPM_MAX)

const isAmount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0
