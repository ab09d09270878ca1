/** How many published reviews give one star, two stars, and so on. */
export type Histogram = readonly [number, number, number, number, number]

/** The mean of stars to two decimals, 0.005 rounded up; null of none. Reckoned in whole numbers. */
export function averageOf(histogram: Histogram): number | null {
  const count = countOf(histogram)
  if (count === 0) return null
  const stars = histogram.reduce((sum, times, index) => sum + times * (index + 1), 0)
  return Math.floor((200 * stars + count) / (2 * count)) / 100
}

export const countOf = (histogram: Histogram): number => histogram.reduce((sum, times) => sum + times, 0)
