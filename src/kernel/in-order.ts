/**
 * Waits for all of what is under way at once, and fails for the reason of the first in this order that fails: what stands
 * behind it may have failed because of that.
 */
export async function inOrder<T extends readonly unknown[]>(
  all: readonly [...T]
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  const settled = await Promise.allSettled(all)
  return settled.map(each => {
    if (each.status === 'rejected') throw each.reason
    return each.value
  }) as { -readonly [K in keyof T]: Awaited<T[K]> }
}
