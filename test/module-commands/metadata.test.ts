import { expect, test } from 'vitest'
import { newWrite, ordersModule, wire, writeOf } from '../../src/index.ts'
import { newId } from '../../src/kernel/ids.ts'
import { defineModule } from '../../src/module.ts'
import { admin, customer } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import { sent, useOrders } from '../support/orders.ts'
import { shareShops } from '../support/shared-shops.ts'

shareShops()

/** A module that stores the numbers of another system with orders. */
const links = defineModule({
  name: 'links',
  description: 'Links orders to another system.',
  basePaths: ['/api/links'],
  requires: { orders: ordersModule },
  uses: {},
  setup: async (_platform, _settings, { orders }) => ({
    api: orders.orders,
    routes: tiers => {
      const config = { class: 'account', unversioned: true } as const
      const body = wire.input({ number: wire.Id })
      const schema = { summary: 'Link', body, params: wire.IdParams }
      tiers.admin.post('/links/:id', { config, schema }, request =>
        orders.orders.updateMetadata(
          request.params.id,
          { metadata: { erp_number: request.body.number } },
          writeOf(request)
        )
      )
    }
  })
})

async function useLinks() {
  const shop = await useOrders({ modules: [...CHECKOUT_MODULES, links] })
  const orders = shop.apiOf(links)
  if (orders === undefined) throw new Error('there is no module')
  const { json } = await shop.as(customer()).post('/api/orders', sent(shop.mug))
  const id: string = json.id
  const read = async () => (await shop.as(admin()).get(`/api/admin/orders/${id}`)).json
  return { ...shop, orders, id, read }
}

test.each([
  ['a number', { metadata: { erp_number: 4711 } }, 'METADATA_INVALID'],
  ['an unknown field', { status: 'canceled' }, 'METADATA_INVALID'],
  ['a long value', { private_metadata: { text: 'x'.repeat(501) } }, 'METADATA_INVALID'],
  [
    'more than 50 keys',
    { metadata: Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`key${at}`, 'x'])) },
    'METADATA_INVALID'
  ]
])(
  'a module that changes the metadata of an order to %s is rejected, and nothing changes',
  async (_, change, code) => {
    const { orders, id, read } = await useLinks()
    const before = await read()
    await expect(orders.updateMetadata(id, change as object, newWrite())).rejects.toMatchObject({ code })
    expect(await read()).toEqual(before)
  }
)

test('a module cannot exceed the limit of metadata of an order by several changes', async () => {
  const { orders, id, read } = await useLinks()
  const keys = Array.from({ length: 50 }, (_, at) => [`key${at}`, 'x'])
  await orders.updateMetadata(id, { metadata: Object.fromEntries(keys) }, newWrite())
  const before = await read()
  const change = { metadata: { one_more: 'x' } }
  await expect(orders.updateMetadata(id, change, newWrite())).rejects.toMatchObject({
    code: 'METADATA_LIMIT'
  })
  expect(await read()).toEqual(before)
})

test('a module that changes the metadata of an unknown order is rejected', async () => {
  const { orders } = await useLinks()
  const change = { metadata: { erp_number: '4711' } }
  await expect(orders.updateMetadata(newId(), change, newWrite())).rejects.toMatchObject({
    code: 'ORDER_NOT_FOUND'
  })
})

test("a repeated request that changes metadata through a module's command keeps later changes of others", async () => {
  const { as, id, read } = await useLinks()
  const api = as(admin())
  const [key, number] = [{ 'idempotency-key': newId() }, newId()]
  const first = await api.post(`/api/links/${id}`, { number }, key)
  expect(first.json.metadata).toEqual({ erp_number: number })
  await api.patch(`/api/admin/orders/${id}`, { metadata: { erp_number: 'corrected' } })
  await api.post(`/api/links/${id}`, { number }, key)
  expect((await read()).metadata).toEqual({ erp_number: 'corrected' })
})

test('two simultaneous changes of the metadata of an order by modules both remain', async () => {
  const { orders, id, read } = await useLinks()
  const { version } = await read()
  await Promise.all(
    ['a', 'b'].map(name => orders.updateMetadata(id, { private_metadata: { [name]: name } }, newWrite()))
  )
  expect(await read()).toMatchObject({ private_metadata: { a: 'a', b: 'b' }, version: version + 2 })
})
