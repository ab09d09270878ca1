/**
 * What the cart asks of whoever knows about stock (the inventory module, when it is there). The answer is advice at
 * the time of asking: nothing is reserved for a cart.
 */
export type Stock = {
  /** How many of each variant can still be bought, in their order; 0 for variants it does not know. */
  available(variantIds: readonly string[]): Promise<number[]>
}
