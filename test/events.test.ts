import { expect, test } from 'vitest'
import type { EventType } from '../src/kernel/events.ts'
import { defineModule, type Module } from '../src/module.ts'
import { authModule, userRegisteredEvent } from '../src/modules/auth/index.ts'
import { cartMergedEvent, cartModule } from '../src/modules/cart/index.ts'
import { catalogChangedEvent, catalogModule, productChangedEvent } from '../src/modules/catalog/index.ts'
import { customer } from '../src/testing.ts'
import { until } from './faults/until.ts'
import { createCategory, createDiscount, createProduct } from './support/catalog.ts'
import { useShop } from './support/use-shop.ts'

type Heard = { name: string; subject: string; payload: unknown }

/** A shop of these modules, and what is heard of them. */
async function useEar(modules: readonly Module[], subscribes: readonly EventType[]) {
  const heard: Heard[] = []
  const hear = (name: string) => async (_tx: unknown, events: readonly Omit<Heard, 'name'>[]) => {
    heard.push(...events.map(({ subject, payload }) => ({ name, subject, payload })))
  }
  const ear = defineModule({
    name: 'ear',
    description: 'Subscribes.',
    basePaths: [],
    requires: {},
    uses: {},
    subscribes,
    setup: async () => ({
      api: {},
      eventHandlers: Object.fromEntries(subscribes.map(({ name }) => [name, hear(name)]))
    })
  })
  return { shop: await useShop({ modules: [...modules, ear] }), heard }
}

test('a created account emits an event, and a registration that is rejected emits none', async () => {
  const { shop, heard } = await useEar([authModule], [userRegisteredEvent])
  const account = { email: 'ada@example.com', password: 'nine lives and a piano' }
  const { status, json } = await shop.as(null).post('/api/auth/register', account)
  expect(status).toBe(201)
  expect((await shop.as(null).post('/api/auth/register', account)).status).toBe(409)
  const made = await shop
    .apiOf(authModule)
    ?.createUser({ ...account, email: 'bob@example.com', role: 'admin' })
  await until('both events are received', () => heard.length >= 2)
  expect(heard).toEqual(
    [
      { user_id: json.user.id, role: 'customer' },
      { user_id: made?.id, role: 'admin' }
    ].map(payload => ({ name: 'auth.user_registered', subject: payload.user_id, payload }))
  )
})

test('product changes and merged carts emit events, one per transaction', async () => {
  const { shop, heard } = await useEar(
    [catalogModule, cartModule],
    [productChangedEvent, catalogChangedEvent, cartMergedEvent]
  )
  const ada = customer()
  const product = await createProduct(shop, {
    variants: [
      { sku: 'A', price: 100 },
      { sku: 'B', price: 200 }
    ]
  })
  const guest = await shop
    .as(null)
    .post('/api/guest-cart', { variant_id: product.variants[0].id, quantity: 1 })
  const merge = () => shop.as(ada).post('/api/cart/merge', { guest_cart_token: guest.json.guest_cart_token })
  for (let time = 0; time < 2; time += 1) expect((await merge()).status).toBe(200)
  const { id: target_id } = await createCategory(shop, 'Mugs')
  await createDiscount(shop, { scope: 'category', target_id, percentage_ppm: 100_000 })
  await until('all three events are received', () => new Set(heard.map(({ name }) => name)).size === 3)
  const of = (type: EventType) => heard.filter(({ name }) => name === type.name).map(({ payload }) => payload)
  expect(of(cartMergedEvent)).toEqual([{ customer_id: ada.id, strategy: 'sum', moved: 1 }])
  expect(of(productChangedEvent)).toEqual([{ product_id: product.id }])
  expect(of(catalogChangedEvent)[0]).toEqual({})
})
