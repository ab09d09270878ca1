/**
 * A set of objects with cheap insertion and removal. A `Set` costs 10 us a request (2026-11), because its table is rebuilt
 * periodically. Discarded tables keep removed members alive until a full garbage collection.
 */
export type UnorderedSet<T> = {
  add(member: T): void
  /** Does nothing if the member is not in the set. */
  remove(member: T): void
  /** Returns a copy of the members. */
  all(): readonly T[]
  isEmpty(): boolean
}

/** Members store their index in `setIndex`; -1 while they are in no set. */
export function createUnorderedSet<T extends { setIndex: number }>(): UnorderedSet<T> {
  const members: T[] = []
  return {
    add(member) {
      member.setIndex = members.length
      members.push(member)
    },
    remove(member) {
      if (member.setIndex < 0) return
      const last = members.pop() as T
      if (last !== member) {
        members[member.setIndex] = last
        last.setIndex = member.setIndex
      }
      member.setIndex = -1
    },
    all: () => [...members],
    isEmpty: () => members.length === 0
  }
}
