import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addDays, createTimeZoneDays, isCalendarDay } from './days.ts'

test('the days of a period are consecutive, and each begins in the first minute of its local date', () => {
  const zones = ['UTC', 'Europe/Berlin', 'America/Santiago', 'Asia/Kathmandu', 'Pacific/Kiritimati']
  fc.assert(
    fc.property(fc.constantFrom(...zones), fc.integer({ min: 0, max: 20_000 }), (zone, count) => {
      const day = addDays('2000-01-01', count)
      const { at, startOf } = createTimeZoneDays(zone)
      const start = startOf(day)
      const hours = (startOf(addDays(day)) - start) / 3_600_000
      return at(start) === day && at(start - 60_000) < day && hours >= 22 && hours <= 26
    }),
    { numRuns: 50 }
  )
  expect([addDays('2028-02-28'), addDays('2026-03-01', -1)]).toEqual(['2028-02-29', '2026-02-28'])
  expect([isCalendarDay('2028-02-29'), isCalendarDay('2026-02-29'), isCalendarDay('nonsense')]).toEqual([
    true,
    false,
    false
  ])
})
