/**
 * A bounded map with pairs as keys, such as price list and variant: few first halves and many second ones. Like `RecentlyUsedMap`, it
 * keeps recently used entries in two generations; `get` costs two lookups.
 */
export class RecentlyUsedPairMap<V> {
  readonly #halfMax: number
  #young = new Map<string, Map<string, V>>()
  #old = new Map<string, Map<string, V>>()
  #youngSize = 0

  constructor(pairsMax: number) {
    this.#halfMax = pairsMax / 2
  }

  get(first: string, second: string): V | undefined {
    const young = this.#young.get(first)?.get(second)
    if (young !== undefined) return young
    const old = this.#old.get(first)?.get(second)
    if (old !== undefined) this.set(first, second, old)
    return old
  }

  set(first: string, second: string, value: V): void {
    if (this.#youngSize >= this.#halfMax) {
      this.#old = this.#young
      this.#young = new Map()
      this.#youngSize = 0
    }
    const seconds = this.#young.get(first) ?? new Map<string, V>()
    this.#young.set(first, seconds)
    if (!seconds.has(second)) this.#youngSize += 1
    seconds.set(second, value)
  }

  /** Deletes all pairs with this second half. */
  deleteSecond(second: string): void {
    for (const seconds of this.#young.values()) if (seconds.delete(second)) this.#youngSize -= 1
    for (const seconds of this.#old.values()) seconds.delete(second)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
    this.#youngSize = 0
  }
}
