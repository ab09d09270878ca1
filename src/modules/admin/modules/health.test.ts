import { expect, test } from 'vitest'
import { resolveModuleHealth } from './health.ts'

const cart = { name: 'cart', enabled: true, requires: ['catalog', 'pricing'] }
const waiting = { handler: 'cart:catalog.changed', dead: 0, oldest_seconds: 0, latest_error: null }

test('the health of a module is up while none of its event handlers is stuck', () => {
  const others = [
    { ...waiting, handler: 'cartoons:catalog.changed', dead: 3 },
    { ...waiting, handler: 'catalog.refresh', oldest_seconds: 900 }
  ]
  const up = { health: 'up', reasons: [] }
  expect(resolveModuleHealth(cart, new Set(['cart']), [])).toEqual(up)
  expect(
    resolveModuleHealth(cart, new Set(['cart']), [...others, { ...waiting, oldest_seconds: 59.9 }])
  ).toEqual(up)
})

test("dead or stuck event handlers degrade a module's health, and the reasons name them and their errors", () => {
  expect(
    resolveModuleHealth(cart, new Set(['cart']), [
      { ...waiting, dead: 2, oldest_seconds: 61.7, latest_error: 'Error: no' },
      { ...waiting, handler: 'cart.sweep', oldest_seconds: 60 }
    ])
  ).toEqual({
    health: 'degraded',
    reasons: [
      'cart:catalog.changed: 2 failed permanently, see /api/admin/events. The latest error: Error: no',
      'cart:catalog.changed: the oldest has waited for 61 s. The latest error: Error: no',
      'cart.sweep: the oldest has waited for 60 s.'
    ]
  })
})

test('the health of every module is degraded while the database is down; a disabled module names its reasons', () => {
  expect(resolveModuleHealth(cart, new Set(['cart']), undefined).reasons).toEqual([
    'The database does not respond.'
  ])
  expect(resolveModuleHealth({ ...cart, enabled: false }, new Set(['catalog']), undefined)).toEqual({
    health: 'off',
    reasons: [
      'It is switched off (modules.cart.enabled).',
      'It requires pricing, which is off, too (modules.pricing.enabled).'
    ]
  })
})
