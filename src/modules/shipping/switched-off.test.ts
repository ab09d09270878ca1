import { expect, test } from 'vitest'
import { useShop } from '../../../test/support/use-shop.ts'
import { newId } from '../../kernel/ids.ts'

test('with the module switched off its paths say so, and all else works', async () => {
  const shop = await useShop({ settings: { CARTWRIGHT__MODULES__SHIPPING__ENABLED: 'false' } })
  const anybody = shop.as(null)
  const answers = await Promise.all([
    anybody.post('/api/shipping/rates', {}),
    anybody.get('/api/shipping/track/1'),
    anybody.get('/api/admin/shipping/zones'),
    anybody.patch(`/api/admin/shipping/rates/${newId()}`, {})
  ])
  for (const { status, json } of answers)
    expect([status, json]).toEqual([503, { error: expect.stringContaining('modules.shipping.enabled') }])
  expect((await anybody.get('/api/products')).status).toBe(200)
  const account = { email: 'ada@example.com', password: 'a long engine poem' }
  const { access_token: token } = (await anybody.post('/api/auth/register', account)).json
  expect((await shop.as({ token }).get('/api/cart')).json.items).toEqual([])
})
