import { expect, test } from 'vitest'
import { pauseSeconds, retryAfterSecondsOf } from './pause.ts'

test('pauses grow to a day, nine of them, and never are shorter than the receiver asked for', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => pauseSeconds(index + 1, 0))
  expect(pauses).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, undefined])
  expect(pauseSeconds(2, 1)).toBeCloseTo(360)
  expect([pauseSeconds(1, 0, 60), pauseSeconds(2, 0, 60), pauseSeconds(1, 0, 1e9)]).toEqual([60, 300, 86_400])
  expect(pauseSeconds(10, 0, 60)).toBeUndefined()
})

test('a Retry-After is seconds or a date, and anything else is none', () => {
  const now = Date.parse('2026-11-22T10:00:00Z')
  const read = (header: string | undefined) => retryAfterSecondsOf(header, now)
  expect([
    read('120'),
    read('0'),
    read('Sun, 22 Nov 2026 10:01:00 GMT'),
    read('Sun, 22 Nov 2020 10:01:00 GMT')
  ]).toEqual([120, 0, 60, 0])
  for (const none of [undefined, '', '-1', '1.5', '1e9', 'soon', 'Sun, nonsense', '99999999999'])
    expect(read(none)).toBeUndefined()
})
