import { expect, test } from 'vitest'
import { createUnorderedSet } from './unordered-set.ts'

test('an unordered set contains what was added and not removed, whatever the order of removals', () => {
  const set = createUnorderedSet<{ setIndex: number; name: number }>()
  const members = Array.from({ length: 100 }, (_, name) => ({ setIndex: -1, name }))
  const there = new Set<number>()
  for (const member of members) {
    set.add(member)
    there.add(member.name)
  }
  for (let step = 0; step < 100; step += 1) {
    const member = members[(step * 37) % 100] as (typeof members)[number]
    set.remove(member)
    set.remove(member)
    there.delete(member.name)
    expect(new Set(set.all().map(({ name }) => name))).toEqual(there)
    if (step % 3 === 0) {
      set.add(member)
      there.add(member.name)
    }
  }
  for (const member of set.all()) set.remove(member)
  expect(set.isEmpty()).toBe(true)
})
