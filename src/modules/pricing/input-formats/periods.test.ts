import { expect, test } from 'vitest'
import { createPricingPeriodParser } from './periods.ts'

const read = (timeZone: string, text: string, edge: 'starts_at' | 'ends_at' = 'starts_at') =>
  createPricingPeriodParser(timeZone).read(text, edge).toISOString()

test.each([
  ['UTC', '2026-03-01', '2026-03-01T00:00:00.000Z'],
  ['Europe/Berlin', '2026-03-01', '2026-02-28T23:00:00.000Z'],
  ['Europe/Berlin', '2026-07-01', '2026-06-30T22:00:00.000Z'],
  // Clocks change on that day.
  ['Europe/Berlin', '2026-03-29', '2026-03-28T23:00:00.000Z'],
  ['America/New_York', '2026-11-01', '2026-11-01T04:00:00.000Z'],
  // At midnight they go forward: the day begins at one.
  ['America/Santiago', '2026-09-06', '2026-09-06T04:00:00.000Z'],
  ['Asia/Kathmandu', '2026-01-01', '2025-12-31T18:15:00.000Z'],
  ['Pacific/Kiritimati', '2026-01-01', '2025-12-31T10:00:00.000Z'],
  ['Etc/GMT+12', '2026-01-01', '2026-01-01T12:00:00.000Z'],
  ['UTC', '2028-02-29', '2028-02-29T00:00:00.000Z']
])('in the time zone %s, the day %s starts at %s', (timeZone, day, instant) => {
  expect(read(timeZone, day)).toBe(instant)
})

test("a day in the shop's time zone ends where the next one starts", () => {
  expect(read('Europe/Berlin', '2026-12-31', 'ends_at')).toBe('2026-12-31T23:00:00.000Z')
  expect(read('Europe/Berlin', '2026-03-28', 'ends_at')).toBe(read('Europe/Berlin', '2026-03-29'))
})

test("a time with an offset does not depend on the shop's time zone", () => {
  for (const edge of ['starts_at', 'ends_at'] as const)
    expect(read('Asia/Tokyo', '2026-03-01T08:00:00+02:00', edge)).toBe('2026-03-01T06:00:00.000Z')
  expect(createPricingPeriodParser('UTC').read(null, 'starts_at')).toBeNull()
  expect(createPricingPeriodParser('UTC').read(undefined, 'ends_at')).toBeUndefined()
})

test.each(['2026-02-29', '2026-13-01', '2026-00-10', '2026-02-30T00:00:00Z', '2026-03-01T25:00:00Z'])(
  'the text %s is not a valid day or time',
  text => {
    expect(() => read('UTC', text, 'ends_at')).toThrow(
      expect.objectContaining({
        code: 'PRICING_MOMENT_INVALID',
        details: { errors: [{ path: 'body/ends_at', message: 'must be a day that there is' }] }
      })
    )
  }
)
