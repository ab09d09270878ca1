const STEP_MS = 60_000
const WINDOW_MS = 5 * STEP_MS

/** Quantiles are found between the bounds of a bucket, as Prometheus does. Null: there was no request. */
export type RecentDurations = { requests: number; p50_ms: number | null; p99_ms: number | null }

type Counts = readonly number[]

/**
 * Counts by bucket of the last five minutes, or one more: what was counted before a minute began is kept once for that minute.
 * `bounds` are the upper bounds of the buckets in seconds, but for the last one, which has none.
 */
export function createRecent(
  bounds: readonly number[],
  now: () => number = performance.now.bind(performance)
) {
  const counts: number[] = new Array(bounds.length + 1).fill(0)
  let kept: { at: number; before: Counts }[] = [{ at: now(), before: [...counts] }]

  /** Those of minutes that are wholly over. */
  const forget = (at: number) => {
    kept = kept.filter(each => at - each.at < WINDOW_MS + STEP_MS)
  }

  return {
    count(bucket: number): void {
      const at = now()
      const last = kept.at(-1)
      if (last === undefined || at - last.at >= STEP_MS) {
        kept.push({ at, before: [...counts] })
        forget(at)
      }
      counts[bucket] = (counts[bucket] ?? 0) + 1
    },

    read(): RecentDurations {
      const at = now()
      forget(at)
      const before = kept[0]?.before ?? counts
      const recent = counts.map((count, bucket) => count - (before[bucket] ?? 0))
      const requests = recent.reduce((sum, count) => sum + count, 0)
      const quantile = (share: number) =>
        requests === 0 ? null : quantileOf(recent, bounds, share * requests)
      return { requests, p50_ms: quantile(0.5), p99_ms: quantile(0.99) }
    }
  }
}

/** Where in milliseconds the request lies that has so many below it. */
function quantileOf(counts: Counts, bounds: readonly number[], rank: number): number {
  let below = 0
  for (const [bucket, upper] of bounds.entries()) {
    const count = counts[bucket] ?? 0
    if (below + count >= rank && count > 0) {
      const lower = bounds[bucket - 1] ?? 0
      return Math.round((lower + ((upper - lower) * (rank - below)) / count) * 10_000) / 10
    }
    below += count
  }
  // Longer than the longest bound: nobody knows how long.
  return (bounds.at(-1) ?? 0) * 1_000
}
