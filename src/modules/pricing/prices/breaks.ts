import { AMOUNT_MAX, multiplyByRatePpm } from '../../../kernel/money.ts'

/** Unit price from a quantity on, in minor units. */
type PriceBreak = { readonly fromQuantity: number; readonly priceMinor: number }
/** Prices of one variant, by ascending quantity. */
export type PriceBreaks = readonly PriceBreak[]

const PPM = 1_000_000

/** Returns the unit price for a quantity; `undefined`: the list has no price for so few. */
export const unitPriceAtQuantity = (breaks: PriceBreaks, quantity: number): number | undefined =>
  breaks.findLast(({ fromQuantity }) => fromQuantity <= quantity)?.priceMinor

/** Price breaks as a flat array of quantities and prices: half the lookup time and memory. */
export type CompactPriceBreaks = readonly number[]
export const flattenPriceBreaks = (breaks: PriceBreaks): CompactPriceBreaks =>
  breaks.flatMap(({ fromQuantity, priceMinor }) => [fromQuantity, priceMinor])

/** `unitPriceAtQuantity` for compact price breaks. */
export function unitPriceInCompactBreaks(kept: CompactPriceBreaks, quantity: number): number | undefined {
  for (let at = kept.length - 2; at >= 0; at -= 2) if ((kept[at] as number) <= quantity) return kept[at + 1]
  return undefined
}

/** Applies a percentage adjustment to inherited prices, rounded half up once per list of the chain. */
export const adjustInheritedPriceBreaks = (breaks: PriceBreaks, adjustmentPpm: number): PriceBreaks =>
  adjustmentPpm === 0
    ? breaks
    : breaks.map(({ fromQuantity, priceMinor }) => ({
        fromQuantity,
        priceMinor: Math.min(AMOUNT_MAX, multiplyByRatePpm(priceMinor, PPM + adjustmentPpm))
      }))

/** A list, and the adjustment of the prices that it inherits. */
export type PriceListChainLink = { readonly id: string; readonly adjustmentPpm: number }
/** A list and its ancestors, in lookup order. */
export type PriceListChain = readonly PriceListChainLink[]

/** Returns the prices of the first list of the chain that has some, adjusted by each list above it. */
export function findPriceBreaksInListChain(
  chain: PriceListChain,
  ownOf: (listId: string) => PriceBreaks | undefined
): PriceBreaks {
  const all = chain.map(({ id }) => ownOf(id) ?? [])
  const at = all.findIndex(breaks => breaks.length > 0)
  const first = all[at]
  if (first === undefined) return []
  return chain
    .slice(0, at)
    .reduceRight((breaks, { adjustmentPpm }) => adjustInheritedPriceBreaks(breaks, adjustmentPpm), first)
}
