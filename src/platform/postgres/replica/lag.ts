type Sample = { position: bigint; at: number }

const SAMPLES_MAX = 600

/** Parses a position in the write-ahead log: `16/B374D848`. */
export const parseLogPosition = (text: string): bigint => {
  const [high = '', low = ''] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

/**
 * Measures how far a replica is behind, by the clock of this process: the age of the oldest position of the primary that the
 * replica has not replayed. The time of the last replayed commit would grow on an idle primary. Times are in milliseconds.
 */
export function createReplicationLag() {
  let samples: Sample[] = []
  /** The distance of samples. It grows with the lag, so that a lag of days needs as few. */
  let distanceMs = 0
  return {
    /** Records a position of the primary. */
    note: (position: bigint, at: number): void => {
      const [oldest, newest] = [samples[0], samples.at(-1)]
      if (newest !== undefined && at - newest.at < distanceMs) return
      samples.push({ position, at })
      if (oldest === undefined || samples.length <= SAMPLES_MAX) return
      samples = samples.filter((_, index) => index % 2 === 0)
      distanceMs = (at - oldest.at) / samples.length
    },
    /** Records that the replica has replayed the log up to a position. */
    replayed: (position: bigint): void => {
      samples = samples.filter(sample => sample.position > position)
      if (samples.length === 0) distanceMs = 0
    },
    /** The lag, 0 when everything is replayed. */
    at: (now: number): number => now - (samples[0]?.at ?? now)
  }
}
