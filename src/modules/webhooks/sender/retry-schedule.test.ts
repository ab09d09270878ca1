import { expect, test } from 'vitest'
import { parseRetryAfterSeconds, webhookRetryDelaySeconds } from './retry-schedule.ts'

test('nine retry delays of webhooks grow to a day, and are never shorter than Retry-After', () => {
  const pauses = Array.from({ length: 10 }, (_, index) => webhookRetryDelaySeconds(index + 1, 0))
  expect(pauses).toEqual([5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, undefined])
  expect(webhookRetryDelaySeconds(2, 1)).toBeCloseTo(360)
  expect([
    webhookRetryDelaySeconds(1, 0, 60),
    webhookRetryDelaySeconds(2, 0, 60),
    webhookRetryDelaySeconds(1, 0, 1e9)
  ]).toEqual([60, 300, 86_400])
  expect(webhookRetryDelaySeconds(10, 0, 60)).toBeUndefined()
})

test('Retry-After of a webhook receiver is seconds or a date, and other values are ignored', () => {
  const now = Date.parse('2026-11-22T10:00:00Z')
  const read = (header: string | undefined) => parseRetryAfterSeconds(header, now)
  expect([
    read('120'),
    read('0'),
    read('Sun, 22 Nov 2026 10:01:00 GMT'),
    read('Sun, 22 Nov 2020 10:01:00 GMT')
  ]).toEqual([120, 0, 60, 0])
  for (const none of [undefined, '', '-1', '1.5', '1e9', 'soon', 'Sun, nonsense', '99999999999'])
    expect(read(none)).toBeUndefined()
})
