import { expect, test } from 'vitest'
import { maintenanceErrorAt } from './guard.ts'

const NOW = Date.parse('2026-03-01T08:00:00Z')

test.each([
  [null, 300],
  ['2026-03-01T08:00:00.001Z', 1],
  ['2026-03-01T08:10:00Z', 600],
  ['2026-03-02T08:00:00Z', 3_600]
])('during maintenance until %s, a rejected request gets Retry-After of %d s', (until, seconds) => {
  const error = maintenanceErrorAt(
    { enabled: true, message: 'Back soon.', until: until === null ? null : new Date(until) },
    NOW
  )
  expect(error).toMatchObject({
    kind: 'unavailable',
    code: 'SHOP_IN_MAINTENANCE',
    mayPass: true,
    retryAfterSeconds: seconds,
    details: { message: 'Back soon.' }
  })
})

test.each(['2026-03-01T08:00:00Z', '2026-02-01T08:00:00Z'])(
  'maintenance mode has ended automatically at %s',
  until => {
    const maintenance = { enabled: true, message: 'Back soon.', until: new Date(until) }
    expect(maintenanceErrorAt(maintenance, NOW)).toBeUndefined()
  }
)

test('no request gets a maintenance error while maintenance mode is disabled', () => {
  expect(maintenanceErrorAt({ enabled: false, message: 'Back soon.', until: null }, NOW)).toBeUndefined()
})
