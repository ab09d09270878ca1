/** Chances that come out the same for the same seed. */
export type Dice = {
  /** 0 up to, and without, `limit`. */
  below(limit: number): number
  chance(share: number): boolean
  of<T>(choices: readonly T[]): T
  shuffled<T>(all: readonly T[]): T[]
  /** Dice of their own, so that what one does with them leaves the others as they are. */
  split(): Dice
}

/** Mulberry32: 32 bits of state, and good enough to choose what goes wrong. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    chance: share => next() < share,
    of: choices => choices[below(choices.length)] as (typeof choices)[number],
    shuffled: all =>
      all
        .map(each => ({ each, at: next() }))
        .sort((one, other) => one.at - other.at)
        .map(({ each }) => each),
    split: () => createDice(below(2 ** 32))
  }
}
