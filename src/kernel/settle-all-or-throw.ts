/**
 * Waits until all promises settle and returns their values. Rejects with the reason of the first rejected one in this
 * order, because later ones may have failed as its consequence.
 */
export async function settleAllOrThrow<T extends readonly unknown[]>(
  promises: readonly [...T]
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(promises)
  return settled.map(each => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  }) as { -readonly [K in keyof T]: Awaited<T[K]> }
}
