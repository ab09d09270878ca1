/** Random choices that are equal for equal seeds. */
export type Dice = {
  /** Returns an integer from 0 to `limit` - 1. */
  below(limit: number): number
  chance(share: number): boolean
  of<T>(choices: readonly T[]): T
  shuffled<T>(all: readonly T[]): T[]
  /** Returns independent dice. Their use does not change the results of others. */
  split(): Dice
}

/** Mulberry32: 32 bits of state, good enough to choose faults. */
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
