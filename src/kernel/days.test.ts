import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDays, dayAfter, isDay } from './days.ts'

test('days are consecutive, and each begins in the first minute of its local date', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kathmandu', 'Pacific/Kiritimati']
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 20_000 }), (zone, count) => {
      const day = dayAfter('2000-01-01', count)
      const { at, startOf } = createDays(zone)
      const start = startOf(day)
      const hours = (startOf(dayAfter(day)) - start) / 3_600_000
      return at(start) === day && at(start - 60_000) < day && hours >= 22 && hours <= 26
    }),
    { numRuns: 50 }
  )
  expect([dayAfter('2028-02-28'), dayAfter('2026-03-01', -1)]).toEqual(['2028-02-29', '2026-02-28'])
  expect([isDay('2028-02-29'), isDay('2026-02-29'), isDay('nonsense')]).toEqual([true, false, false])
})
