import { expect, test } from 'vitest'
import { refusalIn } from './refusal.ts'

const NOW = Date.parse('2026-03-01T08:00:00Z')

test.each([
  [null, 300],
  ['2026-03-01T08:00:00.001Z', 1],
  ['2026-03-01T08:10:00Z', 600],
  ['2026-03-02T08:00:00Z', 3_600]
])('to end at %s, it asks to come back in %d s', (until, seconds) => {
  const refusal = refusalIn(
    { enabled: true, message: 'Back soon.', until: until === null ? null : new Date(until) },
    NOW
  )
  expect(refusal).toMatchObject({
    ...{ kind: 'unavailable', code: 'SHOP_IN_MAINTENANCE', mayPass: true },
    ...{ retryAfterSeconds: seconds, details: { message: 'Back soon.' } }
  })
})

test.each(['2026-03-01T08:00:00Z', '2026-02-01T08:00:00Z'])('it ends by itself at %s', until => {
  const maintenance = { enabled: true, message: 'Back soon.', until: new Date(until) }
  expect(refusalIn(maintenance, NOW)).toBeUndefined()
})

test('switched off, it refuses nothing', () => {
  expect(refusalIn({ enabled: false, message: 'Back soon.', until: null }, NOW)).toBeUndefined()
})
