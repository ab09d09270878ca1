import { adjusted, type PriceBreaks } from './breaks.ts'

/** A list, and how much what it has from the lists below is raised. */
export type Link = { readonly id: string; readonly adjustmentPpm: number }
/** A list and all that it rests on, in the order in which they are asked. */
export type Chain = readonly Link[]

/** Of a variant the prices of the first list that has some, raised by every list between it and the one that is asked. */
export function breaksOf(chain: Chain, ownOf: (listId: string) => PriceBreaks | undefined): PriceBreaks {
  const all = chain.map(({ id }) => ownOf(id) ?? [])
  const at = all.findIndex(breaks => breaks.length > 0)
  const first = all[at]
  if (first === undefined) return []
  return chain.slice(0, at).reduceRight((breaks, { adjustmentPpm }) => adjusted(breaks, adjustmentPpm), first)
}
