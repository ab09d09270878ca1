import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../src/kernel/ids.ts'
import { METADATA_KEYS_MAX } from '../src/kernel/metadata.ts'
import { type ContractShop, openContractShop } from './contract/world.ts'
import { STOCKHOLM } from './support/checkouts.ts'

// The contract of metadata, for each object that has it. Carts, checkouts and orders have tests of their own, too.

type Noun = {
  /** Creates an object, and returns the path that changes it. */
  create(shop: ContractShop): Promise<string>
  /** The path that reads it. Default: the same. */
  read?(changed: string): string
  /** The list that administrators filter. */
  list?: string
  /** The customer changes it, and there is no private part. */
  isOwn?: true
}
const many = Object.fromEntries(Array.from({ length: METADATA_KEYS_MAX }, (_, at) => [`key ${at}`, 'x']))
const PROMOTION = { name: 'Less', class: 'order', effect: { type: 'percentage', percentage_ppm: 100_000 } }

const NOUNS: Readonly<Record<string, Noun>> = {
  product: {
    create: async shop => `/api/catalog/products/${(await shop.product()).id}`,
    list: '/api/catalog/products'
  },
  variant: {
    create: async shop => `/api/catalog/variants/${await shop.variant()}`,
    read: () => ''
  },
  category: {
    create: async ({ made }) =>
      `/api/catalog/categories/${(await made('/api/catalog/categories', { name: 'Kitchen', slug: newId() })).id}`
  },
  order: {
    create: async shop => `/api/admin/orders/${(await shop.order()).id}`,
    list: '/api/admin/orders'
  },
  'price list': {
    create: async ({ made }) =>
      `/api/admin/price-lists/${(await made('/api/admin/price-lists', { name: 'B2B', currency: 'USD' })).id}`,
    list: '/api/admin/price-lists'
  },
  promotion: {
    create: async ({ made }) =>
      `/api/admin/promotions/${(await made('/api/admin/promotions', PROMOTION)).id}`,
    list: '/api/admin/promotions'
  },
  shipment: {
    create: async shop => `/api/admin/shipping/shipments/${(await shop.shippedOrder()).shipmentId}`,
    list: '/api/admin/shipping/shipments'
  },
  review: {
    create: async ({ asAda, product }) => {
      const { id } = await product()
      const { json } = await asAda.post(`/api/products/${id}/reviews`, { rating: 4 })
      return `/api/catalog/reviews/${json.id}`
    },
    list: '/api/catalog/reviews'
  },
  user: {
    create: async ({ register }) => `/api/admin/users/${(await register()).id}/metadata`,
    read: changed => changed.replace('/metadata', ''),
    list: '/api/admin/users'
  },
  account: { create: async () => '/api/auth/me', isOwn: true },
  address: {
    create: async ({ asAda }) =>
      `/api/auth/addresses/${(await asAda.post('/api/auth/addresses', { address: STOCKHOLM })).json.id}`,
    isOwn: true
  },
  cart: { create: async () => '/api/cart', isOwn: true }
}

let shop: ContractShop
beforeAll(async () => {
  shop = await openContractShop()
})
afterAll(() => shop.close())

describe.each(Object.entries(NOUNS))('the metadata of a %s', (_name, { create, read, list, isOwn }) => {
  const caller = () => (isOwn ? shop.asAda : shop.admin)

  test('is set, merged, deleted by null and limited', async () => {
    const path = await create(shop)
    const patch = (metadata: object) => caller().patch(path, { metadata })
    const value = newId()
    const set = await patch({ erp_id: value, old: '1', empty: '' })
    expect([set.status, set.json.metadata], set.text).toEqual([200, { erp_id: value, old: '1' }])
    expect((await patch({ old: null, new: '2' })).json.metadata).toEqual({ erp_id: value, new: '2' })
    expect((await caller().patch(path, {})).json.metadata).toEqual({ erp_id: value, new: '2' })
    const readPath = read === undefined ? path : read(path)
    if (readPath !== '')
      expect((await caller().get(readPath)).json.metadata).toEqual({ erp_id: value, new: '2' })
    if (list !== undefined) {
      const found = async (query: string) => {
        const { json } = await shop.admin.get(`${list}?count=true&${query}`)
        return [json.total, json.items?.length]
      }
      expect(await found(`metadata[erp_id]=${value}`)).toEqual([1, 1])
      expect(await found(`metadata[erp_id]=${value}&metadata[new]=2`)).toEqual([1, 1])
      expect(await found(`metadata[erp_id]=${newId()}`)).toEqual([0, 0])
    }
    const over = await patch(many)
    expect([over.status, over.json.code]).toEqual([400, 'METADATA_LIMIT'])
    await patch({ erp_id: null, new: null })
    expect((await patch(many)).status).toBe(200)
  })

  test.skipIf(isOwn)('has a private part of its own', async () => {
    const path = await create(shop)
    const { json } = await shop.admin.patch(path, {
      metadata: { a: '1' },
      private_metadata: { b: '2' }
    })
    expect([json.metadata, json.private_metadata]).toEqual([{ a: '1' }, { b: '2' }])
    const changed = await shop.admin.patch(path, { private_metadata: { b: null, c: '3' } })
    expect([changed.json.metadata, changed.json.private_metadata]).toEqual([{ a: '1' }, { c: '3' }])
  })
})

test('a customer sees no private metadata of their account, review or shipments', async () => {
  const { admin, asAda, ada, product, shippedOrder } = shop
  const secret = newId()
  const body = { metadata: { open: '1' }, private_metadata: { secret } }
  // An earlier test has filled it.
  const emptied = Object.fromEntries(Object.keys(many).map(key => [key, null]))
  expect((await asAda.patch('/api/auth/me', { metadata: emptied })).status).toBe(200)
  const { id } = await product()
  const { json: review } = await asAda.post(`/api/products/${id}/reviews`, { rating: 4 })
  const { id: orderId, shipmentId } = await shippedOrder()
  for (const path of [
    `/api/admin/users/${ada.id}/metadata`,
    `/api/catalog/reviews/${review.id}`,
    `/api/admin/shipping/shipments/${shipmentId}`,
    `/api/admin/orders/${orderId}`
  ])
    expect((await admin.patch(path, body)).status).toBe(200)
  for (const path of [
    ...['/api/auth/me', `/api/products/${id}/reviews/mine`, `/api/shipping/order/${orderId}`],
    ...[`/api/orders/${orderId}`, '/api/auth/me/export']
  ]) {
    const { status, text } = await asAda.get(path)
    expect([status, text.includes('"open":"1"'), text.includes(secret)], path).toEqual([200, true, false])
  }
  const { text } = await shop.anonymous.get(`/api/products/${id}/reviews`)
  expect([text.includes(review.id), text.includes('open')]).toEqual([true, false])
})
