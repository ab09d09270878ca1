/**
 * Objects that come and go by the ten thousand a second. A `Set` of them costs more than it seems (2026-11: 10 us a
 * request): its table is made anew every so many additions, and those that were thrown away keep what they held from
 * the quick part of the garbage collector.
 */
export type Crowd<T> = {
  add(member: T): void
  /** Nothing happens when it is not there. */
  remove(member: T): void
  /** Those that are there now. */
  all(): readonly T[]
  isEmpty(): boolean
}

/** Each member knows its place, -1 while it has none. */
export function createCrowd<T extends { at: number }>(): Crowd<T> {
  const members: T[] = []
  return {
    add(member) {
      member.at = members.length
      members.push(member)
    },
    remove(member) {
      if (member.at < 0) return
      const last = members.pop() as T
      if (last !== member) {
        members[member.at] = last
        last.at = member.at
      }
      member.at = -1
    },
    all: () => [...members],
    isEmpty: () => members.length === 0
  }
}
