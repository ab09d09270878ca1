import { expect, test } from 'vitest'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'

test('routes of the disabled shipping module report that it is disabled, and all other routes work', async () => {
  const shop = await useShop({ settings: { CARTWRIGHT__MODULES__SHIPPING__ENABLED: 'false' } })
  const anonymous = shop.as(null)
  const answers = await Promise.all([
    anonymous.post('/api/shipping/rates', {}),
    anonymous.get('/api/shipping/track/1'),
    anonymous.get('/api/admin/shipping/zones'),
    anonymous.patch(`/api/admin/shipping/rates/${newId()}`, {})
  ])
  for (const { status, json } of answers)
    expect([status, json]).toEqual([503, { error: expect.stringContaining('modules.shipping.enabled') }])
  expect((await anonymous.get('/api/products')).status).toBe(200)
  const account = { email: 'ada@example.com', password: 'a long engine poem' }
  const { access_token: token } = (await anonymous.post('/api/auth/register', account)).json
  expect((await shop.as({ token }).get('/api/cart')).json.items).toEqual([])
})
