import { expect, onTestFinished, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { adminModule } from '../../src/modules/admin/index.ts'
import { authModule, userResource } from '../../src/modules/auth/index.ts'
import { openAccounts } from '../support/accounts.ts'
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

test('a field for administrators is in their reads of users, and is written when they update one', async () => {
  const labels = createLabels({ resource: userResource, audience: 'admin', isWritten: true })
  const shop = await openAccounts({}, [adminModule, labels.module])
  onTestFinished(() => shop.close())
  await createLabelTable(shop)
  const boss = await shop.newAdmin()
  const ada = await shop.register()
  const path = `/api/admin/users/${ada.id}`
  expect((await boss.get(path)).json.label).toBe(null)
  const updated = await boss.patch(path, { label: 'gold' })
  expect([updated.status, updated.json.label], updated.text).toEqual([200, 'gold'])
  expect(labels.writes()).toEqual([[ada.id, 'gold']])

  expect((await boss.get(path)).json.label).toBe('gold')
  labels.loads()
  const { items } = (await boss.get('/api/admin/users')).json
  expect(items.map((each: { id: string; label: unknown }) => [each.id, each.label])).toEqual([
    [ada.id, 'gold'],
    [boss.id, null]
  ])
  expect(labels.loads()).toEqual([[ada.id, boss.id]])
  expect((await ada.get('/api/auth/me')).json).not.toHaveProperty('label')
  expect((await ada.patch('/api/auth/me', { label: 'mine' })).status).toBe(400)
  expect((await boss.patch(`/api/admin/users/${newId()}`, { label: 'none' })).status).toBe(404)
  expect(labels.writes()).toEqual([])
})
