const STEP_MS = 60_000
const WINDOW_MS = 5 * STEP_MS

/** Quantiles are interpolated within a bucket, as in Prometheus. Null without requests. */
export type RecentRequestDurations = { requests: number; p50_ms: number | null; p99_ms: number | null }

type Counts = readonly number[]

/**
 * Counts requests per bucket of the last five to six minutes. The first request of each minute takes a snapshot of the
 * totals. `bounds` are the upper bounds of the buckets in seconds; the last bucket has none.
 */
export function createRecentRequestDurations(
  bounds: readonly number[],
  now: () => number = performance.now.bind(performance)
) {
  const counts: number[] = new Array(bounds.length + 1).fill(0)
  let kept: { at: number; before: Counts }[] = [{ at: now(), before: [...counts] }]

  /** Drops snapshots that are six minutes old or older. */
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

    read(): RecentRequestDurations {
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

/** Estimates the duration in milliseconds of the request with this rank, by interpolation within its bucket. */
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
  // The last bucket has no upper bound, so this is only a lower bound of the duration.
  return (bounds.at(-1) ?? 0) * 1_000
}
