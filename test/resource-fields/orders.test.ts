import { expect, test } from 'vitest'
import { Type } from '../../src/kernel/schema.ts'
import { orderResource } from '../../src/modules/orders/index.ts'
import { customer } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import { sent, TRANSFER, useOrders } from '../support/orders.ts'
import { createLabels, createLabelTable, setLabel } from './labels.ts'

async function useLabeledOrders(labels: ReturnType<typeof createLabels>) {
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, labels.module] })
  await createLabelTable(shop)
  return shop
}

test('a field for owners is in the order of its customer, and no other customer or guest sees it', async () => {
  const labels = createLabels({ resource: orderResource, audience: 'owner' })
  const shop = await useLabeledOrders(labels)
  const buyer = shop.as(customer())
  const placed = await buyer.post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })
  expect([placed.status, placed.json.label], placed.text).toEqual([201, null])
  const { id } = placed.json
  await setLabel(shop, id, 'mine')
  labels.loads()
  expect((await buyer.get(`/api/orders/${id}`)).json.label).toBe('mine')
  expect((await buyer.get('/api/orders')).json.items[0].label).toBe('mine')
  expect(labels.loads()).toEqual([[id], [id]])
  for (const other of [shop.as(customer()), shop.as(null)]) {
    const { status, text } = await other.get(`/api/orders/${id}`)
    expect(status).toBeGreaterThanOrEqual(401)
    expect(text).not.toContain('mine')
  }
  expect((await shop.admin.get(`/api/admin/orders/${id}`)).json).not.toHaveProperty('label')
})

test('a field for administrators is written with the order, and is a column of its export', async () => {
  const labels = createLabels(
    { resource: orderResource, audience: 'admin', isWritten: true },
    {
      resource: orderResource,
      audience: 'admin',
      field: 'route',
      schema: Type.Object({ stop: Type.Integer() }),
      load: async ids => ids.map(() => ({ stop: 7, secret: 'no member of the schema' }))
    }
  )
  const shop = await useLabeledOrders(labels)
  const buyer = shop.as(customer())
  const { id } = (await buyer.post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })).json
  const path = `/api/admin/orders/${id}`
  const updated = await shop.admin.patch(path, { label: 'urgent' })
  expect([updated.status, updated.json.label, updated.json.route], updated.text).toEqual([
    200,
    'urgent',
    { stop: 7 }
  ])
  expect((await shop.admin.get(path)).json.label).toBe('urgent')
  expect((await buyer.get(`/api/orders/${id}`)).text).not.toContain('urgent')
  const [header, row] = (await shop.admin.get('/api/admin/orders/export')).text.trimEnd().split('\r\n')
  expect(header?.endsWith(',tendered,tenders,label,route')).toBe(true)
  expect(row?.endsWith(',urgent,"{""stop"":7}"')).toBe(true)
})

test('an export fails when a field cannot be loaded', async () => {
  const load = () => Promise.reject(new Error('no labels today'))
  const labels = createLabels({ resource: orderResource, audience: 'admin', load })
  const shop = await useLabeledOrders(labels)
  await shop.as(customer()).post('/api/orders', { ...sent(shop.mug), payment: TRANSFER })
  expect((await shop.admin.get('/api/admin/orders/export')).status).toBe(500)
})
