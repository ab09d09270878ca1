/** Returns the sum of a number of each item. */
export function sumBy<T>(list: readonly T[], of: (each: T) => number): number {
  let sum = 0
  for (const each of list) sum += of(each)
  return sum
}
