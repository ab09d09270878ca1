import { expect, test } from 'vitest'
import { createTimeZoneDays } from '../../../kernel/days.ts'
import { resolveDashboardPeriod } from './period.ts'

const NOW = Date.parse('2026-03-30T22:30:00Z')
const rejected = expect.objectContaining({ code: 'ADMIN_PERIOD_INVALID' })

test('a dashboard period consists of whole days in the time zone of the shop, first and last included', () => {
  const berlin = createTimeZoneDays('Europe/Berlin')
  const { days, starts, end } = resolveDashboardPeriod(berlin, { from: '2026-03-28', to: '2026-03-30' }, NOW)
  expect(days).toEqual(['2026-03-28', '2026-03-29', '2026-03-30'])
  expect([...starts, end].map(each => each.toISOString())).toEqual([
    '2026-03-27T23:00:00.000Z',
    '2026-03-28T23:00:00.000Z',
    // March 29 has 23 hours.
    '2026-03-29T22:00:00.000Z',
    '2026-03-30T22:00:00.000Z'
  ])
})

test('the default dashboard period is the last thirty days in the time zone of the shop', () => {
  const daysIn = (zone: string, query = {}) =>
    resolveDashboardPeriod(createTimeZoneDays(zone), query, NOW).days
  expect(daysIn('UTC').at(-1)).toBe('2026-03-30')
  expect(daysIn('Europe/Berlin').at(-1)).toBe('2026-03-31')
  expect(daysIn('UTC')).toHaveLength(30)
  expect(daysIn('UTC', { from: '2026-03-29' })).toEqual(['2026-03-29', '2026-03-30'])
  expect(daysIn('UTC', { to: '2026-01-30' })[0]).toBe('2026-01-01')
})

test('a dashboard period must not end before it begins, and has 366 days at most', () => {
  const utc = createTimeZoneDays('UTC')
  expect(resolveDashboardPeriod(utc, { from: '2027-01-01', to: '2028-01-01' }, NOW).days).toHaveLength(366)
  expect(() => resolveDashboardPeriod(utc, { from: '2027-01-01', to: '2028-01-02' }, NOW)).toThrow(rejected)
  expect(() => resolveDashboardPeriod(utc, { from: '2027-01-02', to: '2027-01-01' }, NOW)).toThrow(rejected)
  expect(() => resolveDashboardPeriod(utc, { from: '1000-01-01', to: '9999-01-01' }, NOW)).toThrow(rejected)
})
