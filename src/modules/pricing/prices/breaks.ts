import { AMOUNT_MAX, shareOf } from '../../../kernel/money.ts'

/** What one costs from a quantity on, in minor units. */
type PriceBreak = { readonly fromQuantity: number; readonly priceMinor: number }
/** The prices of one variant, by rising quantity. */
export type PriceBreaks = readonly PriceBreak[]

const PPM = 1_000_000

/** What one costs when so many are bought; `undefined`: the list has no price for so few. */
export const priceAt = (breaks: PriceBreaks, quantity: number): number | undefined =>
  breaks.findLast(({ fromQuantity }) => fromQuantity <= quantity)?.priceMinor

/** The same as numbers, a quantity and a price in turn: looked up in half of the time, and kept in half of the memory. */
export type KeptBreaks = readonly number[]
export const keptBreaks = (breaks: PriceBreaks): KeptBreaks =>
  breaks.flatMap(({ fromQuantity, priceMinor }) => [fromQuantity, priceMinor])

/** `priceAt` of what is kept. */
export function keptPriceAt(kept: KeptBreaks, quantity: number): number | undefined {
  for (let at = kept.length - 2; at >= 0; at -= 2) if ((kept[at] as number) <= quantity) return kept[at + 1]
  return undefined
}

/** The same, raised or lowered and rounded half up: once for each list that they come down through. */
export const adjusted = (breaks: PriceBreaks, adjustmentPpm: number): PriceBreaks =>
  adjustmentPpm === 0
    ? breaks
    : breaks.map(({ fromQuantity, priceMinor }) => ({
        fromQuantity,
        priceMinor: Math.min(AMOUNT_MAX, shareOf(priceMinor, PPM + adjustmentPpm))
      }))
