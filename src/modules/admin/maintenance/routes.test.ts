import { expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../../../../test/faults/until.ts'
import { useShop } from '../../../../test/support/use-shop.ts'
import { newId } from '../../../kernel/ids.ts'
import { admin } from '../../../testing.ts'
import { adminModule } from '../index.ts'

const MAINTENANCE = '/api/admin/maintenance'
const ACCOUNT = { email: 'ada@example.com', password: 'nine lives and a piano' }
const LINE = { variant_id: newId(), quantity: 1 }

test('maintenance mode rejects writes of shoppers in every process, and not those of administrators and providers', async () => {
  const other = await useShop({ modules: [adminModule] })
  const shop = await useShop({ databaseUrl: other.databaseUrl })
  const api = other.as(admin())
  const anonymous = shop.as(null)
  const { json: session } = await anonymous.post('/api/auth/register', ACCOUNT)
  const ada = shop.as({ token: session.access_token })
  expect((await ada.post('/api/orders', { items: [LINE] })).status).not.toBe(503)

  const before = (await api.get(MAINTENANCE)).json
  expect(before).toMatchObject({ enabled: false, message: null, until: null, version: 1 })
  for (const wrong of [{ message: 'x' }, { enabled: true, until: 'soon' }])
    expect((await api.put(MAINTENANCE, wrong)).status).toBe(400)
  const wanted = { enabled: true, message: 'Back at noon.', until: '2100-01-01T12:00:00Z' }
  const set = await api.put(MAINTENANCE, wanted, { 'if-match': '"1"' })
  expect(set).toMatchObject({ status: 200, json: { enabled: true, message: 'Back at noon.', version: 2 } })
  const stale = await api.put(MAINTENANCE, { enabled: false }, { 'if-match': '"1"' })
  expect(stale).toMatchObject({ status: 412, json: { code: 'ADMIN_MAINTENANCE_STALE' } })
  await until(
    'maintenance is active in the other process',
    async () => (await anonymous.post('/api/guest-cart', LINE)).status === 503
  )

  const refused = [
    ada.post('/api/cart', LINE),
    ada.post('/api/orders', { items: [LINE] }),
    ada.post('/api/checkouts', { items: [LINE] }),
    ada.patch('/api/auth/me', { name: 'Ada' }),
    anonymous.post('/api/orders/guest', { email: 'ada@example.com', items: [LINE] }),
    anonymous.post('/api/auth/register', { ...ACCOUNT, email: 'bob@example.com' })
  ]
  for (const answer of await Promise.all(refused)) {
    expect(answer).toMatchObject({
      status: 503,
      headers: { 'retry-after': '3600' },
      json: { code: 'SHOP_IN_MAINTENANCE', message: 'Back at noon.', until: '2100-01-01T12:00:00.000Z' }
    })
  }
  const { refresh_token } = (await anonymous.post('/api/auth/login', ACCOUNT)).json
  const allowed = [
    anonymous.get('/api/products'),
    ada.get('/api/cart'),
    anonymous.post('/api/auth/refresh', { refresh_token }),
    anonymous.post('/api/payments/callback/sandbox', {}),
    anonymous.post('/api/shipping/rates', { weight_grams: 1, value: 1, destination: { country: 'SE' } }),
    anonymous.get('/healthz'),
    anonymous.get('/readyz')
  ]
  for (const { status } of await Promise.all(allowed)) expect(status).toBeLessThan(500)

  expect((await api.put(MAINTENANCE, { enabled: false })).json).toMatchObject({
    enabled: false,
    message: null
  })
  await until('maintenance has ended', async () => (await ada.post('/api/cart', LINE)).status !== 503)
  const audit = (await api.get(`/api/admin/audit?route=${encodeURIComponent(MAINTENANCE)}`)).json
  expect(audit.items.map(({ status }: { status: number }) => status)).toEqual([200, 412, 200, 400, 400])
})

test('maintenance mode ends automatically at its end time, in every process', async () => {
  const other = await useShop({ modules: [adminModule] })
  const shop = await useShop({ databaseUrl: other.databaseUrl })
  const [api, anonymous] = [other.as(admin()), shop.as(null)]
  const statusThere = async () => (await anonymous.post('/api/guest-cart', LINE)).status
  const end = Date.now() + 3_600_000
  const wanted = { enabled: true, message: 'Back soon.', until: new Date(end).toISOString() }
  expect((await api.put(MAINTENANCE, wanted)).json).toMatchObject(wanted)
  await until('maintenance is active in the other process', async () => (await statusThere()) === 503)

  vi.useFakeTimers({ toFake: ['Date'], now: end - 1 })
  onTestFinished(() => void vi.useRealTimers())
  expect(await anonymous.post('/api/guest-cart', LINE)).toMatchObject({
    status: 503,
    headers: { 'retry-after': '1' }
  })
  expect((await api.get(MAINTENANCE)).json).toMatchObject(wanted)
  vi.setSystemTime(end)
  expect(await statusThere()).not.toBe(503)
  expect((await api.get(MAINTENANCE)).json).toMatchObject({ ...wanted, enabled: false })
  const late = await api.put(MAINTENANCE, wanted)
  expect(late).toMatchObject({ status: 400, json: { code: 'ADMIN_MAINTENANCE_OVER' } })
  vi.setSystemTime(end - 1)
  expect(await statusThere()).toBe(503)
  expect((await api.put(MAINTENANCE, { ...wanted, enabled: false })).status).toBe(200)
  await until('maintenance has ended', async () => (await statusThere()) !== 503)
})
