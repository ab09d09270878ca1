import { expect, test } from 'vitest'
import { useShop } from '../../../../test/support/use-shop.ts'
import { standardModules } from '../../../app.ts'
import { admin } from '../../../testing.ts'
import { adminModule } from '../index.ts'

const withoutAuth = standardModules.filter(({ name }) => name !== 'auth')

test('administrators see the health of every module with its reasons, and the configuration without secrets', async () => {
  const shop = await useShop({
    modules: withoutAuth,
    settings: {
      CARTWRIGHT__MODULES__CART__ENABLED: 'false',
      CARTWRIGHT__MODULES__CATEGORIES__ENABLED: 'false',
      CARTWRIGHT__PAYMENTS__STRIPE__SECRET_KEY: 'sk_live_hidden',
      CARTWRIGHT__PAYMENTS__STRIPE__WEBHOOK_SECRETS: '[whsec_hidden]'
    }
  })
  const api = shop.as(admin())
  await shop.sql(
    `insert into cartwright.jobs (handler, subject, event_id, payload, due_at, attempts, error)
     values ('catalog:gone.event', gen_random_uuid(), gen_random_uuid(), '{}', 'infinity', 10, 'Error: no')`
  )
  const { json } = await api.get('/api/admin/modules')
  expect(json).toMatchObject({ database: 'up', cache: 'up' })
  const moduleCalled = (name: string) => json.items.find((each: { name: string }) => each.name === name)
  expect(moduleCalled('orders')).toMatchObject({
    enabled: true,
    health: 'up',
    reasons: [],
    requires: ['catalog', 'pricing'],
    base_paths: expect.arrayContaining(['/api/admin/orders'])
  })
  expect(moduleCalled('cart')).toMatchObject({
    enabled: false,
    health: 'off',
    reasons: ['It is switched off (modules.cart.enabled).']
  })
  expect(moduleCalled('catalog')).toMatchObject({
    health: 'degraded',
    reasons: ['catalog:gone.event: 1 failed permanently, see /api/admin/events. The latest error: Error: no'],
    parts: [{ name: 'categories', enabled: false }]
  })

  const shown = await api.get('/api/admin/config')
  expect(shown.json.config).toMatchObject({
    modules: { cart: { enabled: false } },
    payments: { stripe: { secret_key: '***', webhook_secrets: ['***'] } },
    secrets: { keys: [{ id: 'test', key: '***' }] }
  })
  expect(shown.text).not.toContain('hidden')

  shop.platform.cache.ping = () => Promise.reject(new Error('gone'))
  expect((await api.get('/api/admin/modules')).json).toMatchObject({ database: 'up', cache: 'down' })
})

test('the admin module runs without other modules, and when it is disabled every path below /api/admin gets 503', async () => {
  const alone = await useShop({ modules: [adminModule] })
  const { items } = (await alone.as(admin()).get('/api/admin/modules')).json
  expect(items.map(({ name, health }: { name: string; health: string }) => [name, health])).toEqual([
    ['auth', 'up'],
    ['admin', 'up']
  ])
  const off = await useShop({
    modules: withoutAuth,
    settings: { CARTWRIGHT__MODULES__ADMIN__ENABLED: 'false' }
  })
  for (const path of ['modules', 'orders', 'nowhere']) {
    const { status, json } = await off.as(admin()).get(`/api/admin/${path}`)
    expect(status).toBe(503)
    expect(json.error).toContain('modules.admin.enabled')
  }
})
