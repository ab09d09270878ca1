/** The quantities in which a variant is sold: multiples of `step` from `min` to `max`, which are multiples themselves. */
export type QuantityRule = { readonly min: number; readonly max: number | null; readonly step: number }

/** Whether one line can have this quantity. */
export const isAllowedQuantity = (quantity: number, { min, max, step }: QuantityRule): boolean =>
  quantity >= min && (max === null || quantity <= max) && quantity % step === 0

/** Returns the largest valid quantity of one line up to `quantity`; 0 when it is below `min`. */
export function largestAllowedQuantity(quantity: number, { min, max, step }: QuantityRule): number {
  const most = max === null ? quantity : Math.min(quantity, max)
  return most < min ? 0 : most - (most % step)
}

/** Returns the part of the rule that also holds while a quantity is still being split into lines. */
export const withoutMinAndStep = ({ max }: QuantityRule): QuantityRule => ({ min: 1, max, step: 1 })
