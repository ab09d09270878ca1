import { expect, test } from 'vitest'
import { createCrowd } from './crowd.ts'

test('whoever came and has not gone is there, in whatever order they go', () => {
  const crowd = createCrowd<{ at: number; name: number }>()
  const members = Array.from({ length: 100 }, (_, name) => ({ at: -1, name }))
  const there = new Set<number>()
  for (const member of members) {
    crowd.add(member)
    there.add(member.name)
  }
  for (let step = 0; step < 100; step += 1) {
    const member = members[(step * 37) % 100] as (typeof members)[number]
    crowd.remove(member)
    crowd.remove(member)
    there.delete(member.name)
    expect(new Set(crowd.all().map(({ name }) => name))).toEqual(there)
    if (step % 3 === 0) {
      crowd.add(member)
      there.add(member.name)
    }
  }
  for (const member of crowd.all()) crowd.remove(member)
  expect(crowd.isEmpty()).toBe(true)
})
