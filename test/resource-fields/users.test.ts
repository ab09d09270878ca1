import { expect, test } from 'vitest'
import { authModule, userResource } from '../../src/modules/auth/index.ts'
import { useShop } from '../support/use-shop.ts'
import { createLabels, createLabelTable, setLabel } from './labels.ts'

test('a field for owners is in the account of the caller', async () => {
  const labels = createLabels({ resource: userResource, audience: 'owner' })
  const shop = await useShop({ modules: [authModule, labels.module] })
  await createLabelTable(shop)
  const account = { email: 'ada@example.com', password: 'a long engine poem' }
  const { json } = await shop.as(null).post('/api/auth/register', account)
  expect(json.user.label).toBe(null)
  await setLabel(shop, json.user.id, 'gold')
  const { json: me } = await shop.as({ token: json.access_token }).get('/api/auth/me')
  expect(me.label).toBe('gold')
})
