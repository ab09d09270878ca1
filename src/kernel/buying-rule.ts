/** In which quantities a variant is sold: multiples of `step`, to which `min` and `max` belong. */
export type BuyingRule = { readonly min: number; readonly max: number | null; readonly step: number }

/** Whether one line can have so many. */
export const fits = (quantity: number, { min, max, step }: BuyingRule): boolean =>
  quantity >= min && (max === null || quantity <= max) && quantity % step === 0

/** The most of `quantity` that one line can have; 0 when that is less than is sold. */
export function fitting(quantity: number, { min, max, step }: BuyingRule): number {
  const most = max === null ? quantity : Math.min(quantity, max)
  return most < min ? 0 : most - (most % step)
}
