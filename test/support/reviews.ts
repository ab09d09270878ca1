import { expect } from 'vitest'
import { catalogModule } from '../../src/modules/catalog/index.ts'
import { type FakeOrders, fakeOrders } from '../../src/modules/orders/fake.ts'
import { reviewsModule } from '../../src/modules/reviews/index.ts'
import { customer, fakeAuth, type TestResponse } from '../../src/testing.ts'
import { createProduct } from './catalog.ts'
import { useShop } from './use-shop.ts'

type Options = {
  settings?: Readonly<Record<string, string>>
  databaseUrl?: string
  /** Null: orders are switched off. */
  orders?: FakeOrders | null
}

type Fakes = { auth: ReturnType<typeof fakeAuth>; orders?: FakeOrders }
const withFakes = (): Fakes => ({ auth: fakeAuth(), orders: fakeOrders() })

/** A shop with a catalog, reviews and orders in memory, for one test, or shared. */
export async function useReviews({ settings = {}, databaseUrl, orders: given }: Options = {}) {
  const instead =
    given === undefined ? withFakes : { auth: fakeAuth(), ...(given !== null && { orders: given }) }
  const modules = [catalogModule, reviewsModule]
  const shop = await useShop<Fakes>({ modules, instead, settings, databaseUrl })
  const { auth, orders = null } = shop.instead
  const admin = shop.as({ token: 'admin' })
  const anonymous = shop.as(null)
  return {
    ...shop,
    admin,
    anonymous,
    auth,
    orders,
    /** An active product; answers its id. */
    product: async (fields: Record<string, unknown> = {}): Promise<string> =>
      (await createProduct(shop, fields)).id,
    /** A new customer has bought this, and waits for it. */
    buyer: (product: string) => {
      const buyer = customer()
      const order = orders?.order(buyer.id, [{ variantId: product, productId: product }]) ?? ''
      orders?.place(order)
      return { ...buyer, order }
    },
    /** This customer, or a new one, reviews a product. */
    review: async (product: string, rating = 5, { token } = customer(), words: object = {}) => {
      const answer = await shop.as({ token }).post(`/api/products/${product}/reviews`, { rating, ...words })
      return expectStatus(answer, 201).json
    },
    list: async (product: string, query = '') =>
      expectStatus(await anonymous.get(`/api/products/${product}/reviews?count=true${query}`), 200).json,
    rating: async (product: string) =>
      expectStatus(await anonymous.get(`/api/products/${product}/reviews/rating`), 200).json,
    publish: async (id: string) =>
      expectStatus(await admin.post(`/api/catalog/reviews/${id}/publish`), 200).json,
    reject: async (id: string, reason = 'it is about the parcel service') =>
      expectStatus(await admin.post(`/api/catalog/reviews/${id}/reject`, { reason }), 200).json
  }
}

function expectStatus(answer: TestResponse, status: number): TestResponse {
  expect(answer.status, answer.text).toBe(status)
  return answer
}
