/** Adds up the quantities of each variant, in the order of first occurrence. */
export function sumQuantitiesByVariant(
  lines: readonly { readonly variantId: string; readonly quantity: number }[]
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const { variantId, quantity } of lines) sums.set(variantId, (sums.get(variantId) ?? 0) + quantity)
  return sums
}
