import { expect, test } from 'vitest'
import {
  type CatalogApp,
  changesOf,
  createDiscount,
  createProduct,
  oneOfEach,
  useCatalog
} from '../../../../test/support/catalog.ts'
import { eventually } from '../../../../test/support/eventually.ts'
import { settled } from '../../../../test/support/settled.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import type { Broadcast, BroadcastSubscriber } from '../../../platform/broadcast.ts'
import type { Database, Queryable } from '../../../platform/postgres/database.ts'
import { createMarketOfferReader } from './markets.ts'
import { createVariantOfferCache } from './service.ts'

shareShops()

const admin = { token: 'admin' }

async function sell(app: CatalogApp, fields: Record<string, unknown> = {}) {
  const product = await createProduct(app, fields)
  return { product, ids: product.variants.map((variant: { id: string }) => variant.id) as string[] }
}

const priceOf = async (app: CatalogApp, id: string | undefined) =>
  (await app.catalog.offers(oneOfEach([id ?? '']), null))[0]?.discountedPrice

test('offers are returned in the order of the requested ids, with undefined for variants that are not for sale', async () => {
  const app = await useCatalog()
  const { product, ids } = await sell(app, {
    name: 'Mug',
    images: [{ url: 'https://example.com/mug.png' }],
    variants: [
      { sku: 'A', price: 1_000, sale_price: 800, attributes: { Colour: 'Red' } },
      { sku: 'B', price: 2_000, image_url: 'https://example.com/b.png' },
      { sku: 'C', price: 3_000, active: false },
      { sku: 'D', price: 3_000, currency: 'EUR' }
    ]
  })
  const draft = await sell(app, { status: 'draft' })
  const [a, b, c, d] = ids as [string, string, string, string]
  const wanted = [b, newId(), a, c, d, ...draft.ids, b]
  const offers = await app.catalog.offers(oneOfEach(wanted), null)
  expect(offers.map(offer => offer?.variantId)).toEqual([b, undefined, a, undefined, undefined, undefined, b])
  expect(offers[2]).toMatchObject({ price: 1_000, discountedPrice: 800, currency: 'USD' })
  expect(JSON.parse(`{${offers[2]?.json}}`)).toEqual({
    variant_id: a,
    product_id: product.id,
    name: 'Mug',
    variant_name: 'Red',
    slug: product.slug,
    sku: 'A',
    price: 1_000,
    discounted_price: 800,
    image_url: 'https://example.com/mug.png',
    attributes: { Colour: 'Red' }
  })
  expect(JSON.parse(`{${offers[0]?.json}}`).image_url).toBe('https://example.com/b.png')
})

test('one statement loads all missing offers, and none runs when all ids are cached, also unknown ids', async () => {
  needsOwnShop()
  const app = await useCatalog()
  const { ids } = await sell(app, {
    variants: [
      { sku: 'E', price: 1 },
      { sku: 'F', price: 2 },
      { sku: 'G', price: 3 }
    ]
  })
  const unknown = newId()
  await settled(app)
  expect(await app.catalog.offers(oneOfEach(ids.slice(0, 1)), null)).toHaveLength(1)
  const sentFor = async (wanted: string[]) =>
    (await app.record(() => app.catalog.offers(oneOfEach(wanted), null))).statements
  expect(await sentFor([...ids, unknown])).toEqual(['catalog.list_offers'])
  expect(await sentFor([...ids, unknown])).toEqual([])
  expect(await sentFor([])).toEqual([])
})

test('another process sees a changed offer within a second', async () => {
  const one = await useCatalog()
  const other = await useCatalog({}, one.databaseUrl)
  const { product, ids } = await sell(one)
  const [id] = ids
  await eventually(async () => {
    expect(await priceOf(other, id)).toBe(1_000)
    expect((await other.record(() => priceOf(other, id))).statements).toEqual([])
  })

  await one.request('PATCH', `/api/catalog/variants/${id}`, { ...admin, body: { price: 700 } })
  await eventually(async () => expect(await priceOf(other, id)).toBe(700))
  await one.request('PATCH', `/api/catalog/products/${product.id}`, {
    ...admin,
    body: { status: 'archived' }
  })
  await eventually(async () => expect(await priceOf(other, id)).toBeUndefined())
  await one.request('PATCH', `/api/catalog/products/${product.id}`, { ...admin, body: { status: 'active' } })
  await eventually(async () => expect(await priceOf(other, id)).toBe(700))
  await one.request('DELETE', `/api/catalog/products/${product.id}`, admin)
  await eventually(async () => expect(await priceOf(other, id)).toBeUndefined())
})

test('a change of more variants than one message can contain reaches other processes', async () => {
  const one = await useCatalog()
  const other = await useCatalog({}, one.databaseUrl)
  const variants = Array.from({ length: 250 }, (_, index) => ({ sku: `V${index}`, price: 500 }))
  const { product, ids } = await sell(one, { variants })
  await eventually(async () => {
    await other.catalog.offers(oneOfEach(ids), null)
    const { statements } = await other.record(() => other.catalog.offers(oneOfEach(ids), null))
    expect(statements).toEqual([])
  })
  await createDiscount(one, { scope: 'product', target_id: product.id, amount: 100 })
  await eventually(async () => {
    const offers = await other.catalog.offers(oneOfEach(ids), null)
    expect(new Set(offers.map(offer => offer?.discountedPrice))).toEqual(new Set([400]))
  })
})

test('cached offers change when a discount starts and ends', async () => {
  const app = await useCatalog()
  const { product, ids } = await sell(app)
  const inOneSecond = () => new Date(Date.now() + 1_000).toISOString()
  const target = { scope: 'product', target_id: product.id, percentage_ppm: 500_000 }
  const { id } = await createDiscount(app, { ...target, starts_at: inOneSecond() })
  await priceOf(app, ids[0])
  await eventually(async () => expect(await priceOf(app, ids[0])).toBe(500))
  await app.request('PATCH', `/api/catalog/discounts/${id}`, { ...admin, body: { ends_at: inOneSecond() } })
  await priceOf(app, ids[0])
  await eventually(async () => expect(await priceOf(app, ids[0])).toBe(1_000))
})

/** A broadcast that the test controls. */
function fakeBroadcast() {
  const subscribers: BroadcastSubscriber[] = []
  const state = { live: true }
  const broadcast: Broadcast = {
    publish: async () => {},
    subscribe: (_topic, subscriber) => subscribers.push(subscriber),
    watch: () => {},
    isLive: () => state.live,
    close: async () => {}
  }
  return {
    broadcast,
    state,
    announce: (payload: string) => {
      for (const each of subscribers) each.onMessage(payload)
    },
    setLive: (live: boolean) => {
      state.live = live
      for (const each of subscribers) each.onGap()
    }
  }
}

function offersFrom(db: Queryable, broadcast: Broadcast, bytesMax = 1_000_000) {
  const changes = changesOf({ db: db as Database, broadcast })
  const entries = createVariantOfferCache({ db, changes, currency: 'USD', bytesMax })
  return createMarketOfferReader({ entries, pricing: undefined, currency: 'USD' })
}

/** A database whose response waits until the test releases it. */
function slowDatabase(id: string) {
  const gate = Promise.withResolvers<void>()
  const state = { price: 100, queries: 0 }
  const db = {
    rows: async () => {
      state.queries += 1
      const row = {
        id,
        product_id: newId(),
        name: 'Mug',
        sku: 'A',
        price_minor: state.price,
        sale_price_minor: null,
        image_url: null,
        attributes: {},
        discounts: null
      }
      await gate.promise
      return [row]
    }
  } as unknown as Queryable
  return { db, state, open: () => gate.resolve() }
}

for (const [how, messageFor] of [
  ['the variant', (id: string) => id],
  ['everything', () => 'all'],
  ['another variant', () => newId()]
] as const) {
  test(`offers read before a change of ${how} that arrive after its invalidation are not cached`, async () => {
    const id = newId()
    const { broadcast, announce } = fakeBroadcast()
    const { db, state, open } = slowDatabase(id)
    const offers = offersFrom(db, broadcast)
    const underWay = offers(oneOfEach([id]), null)
    state.price = 200
    announce(messageFor(id))
    open()
    expect((await underWay)[0]?.price).toBe(100)
    expect((await offers(oneOfEach([id]), null))[0]?.price).toBe(200)
  })
}

test('a variant that is created while it is being read as missing is found afterwards', async () => {
  const id = newId()
  const { broadcast, announce } = fakeBroadcast()
  const answers: unknown[][] = [[], []]
  const db = { rows: async () => answers.shift() ?? [{ id, price_minor: 1, attributes: {} }] }
  const offers = offersFrom(db as unknown as Queryable, broadcast)
  expect(await offers(oneOfEach([id]), null)).toEqual([undefined])
  expect(answers).toHaveLength(1)
  expect(await offers(oneOfEach([id]), null)).toEqual([undefined])
  expect(answers).toHaveLength(1)
  announce(id)
  expect(await offers(oneOfEach([id]), null)).toEqual([undefined])
  announce(id)
  expect((await offers(oneOfEach([id]), null))[0]?.price).toBe(1)
})

test('while invalidation messages can be missed, no offer is cached or returned from the cache', async () => {
  const id = newId()
  const { broadcast, state: connection, setLive } = fakeBroadcast()
  const { db, state, open } = slowDatabase(id)
  open()
  const offers = offersFrom(db, broadcast)
  await offers(oneOfEach([id]), null)
  await offers(oneOfEach([id]), null)
  expect(state.queries).toBe(1)
  connection.live = false
  await offers(oneOfEach([id]), null)
  setLive(false)
  await offers(oneOfEach([id]), null)
  expect(state.queries).toBe(3)
  setLive(true)
  await offers(oneOfEach([id]), null)
  await offers(oneOfEach([id]), null)
  expect(state.queries).toBe(4)
})

test('the cache of offers is bounded, and a bound of zero disables it', async () => {
  const { broadcast } = fakeBroadcast()
  const { db, state, open } = slowDatabase('')
  open()
  const rows = {
    rows: async (_: unknown, { ids }: { ids: string[] }) => {
      state.queries += 1
      return ids.map(id => ({ id, price_minor: 1, sale_price_minor: null, attributes: {}, discounts: null }))
    }
  }
  const database = { ...db, ...rows } as unknown as Queryable
  const offers = offersFrom(database, broadcast, 20_000)
  const ids = Array.from({ length: 1_000 }, () => newId())
  await offers(oneOfEach(ids), null)
  let kept = 0
  for (const id of ids) {
    const before = state.queries
    await offers(oneOfEach([id]), null)
    if (state.queries === before) kept += 1
    if (kept > 100) break
  }
  expect(kept).toBeLessThan(60)
  const none = offersFrom(database, broadcast, 0)
  const before = state.queries
  await none(oneOfEach(ids.slice(0, 1)), null)
  await none(oneOfEach(ids.slice(0, 1)), null)
  expect(state.queries).toBe(before + 2)
})
