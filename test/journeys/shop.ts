import { expect, onTestFinished } from 'vitest'
import { createTestApp } from '../support/app.ts'
import { usePost } from '../support/checkouts.ts'
import { mailSettings, PATIENCE } from '../support/mailing-shop.ts'

const ADMIN = { email: 'boss@shop.example', password: 'nine lives and a piano' }
export const EMAIL = 'ada@example.com'
export const PASSWORD = 'a long engine poem'
export const TRANSFER = { provider: 'manual', method: 'bank_transfer' }

/** The whole shop, asked over HTTP alone, with its administrator, a mug and post to send it by, and the server that takes its mails. */
export async function openJourney() {
  const { mails, settings } = await mailSettings({
    CARTWRIGHT_ADMIN_EMAIL: ADMIN.email,
    CARTWRIGHT_ADMIN_PASSWORD: ADMIN.password
  })
  const app = await createTestApp(settings)
  onTestFinished(app.close)
  const anybody = app.as(null)
  const logIn = async (account: object) => {
    const { status, json, text } = await anybody.post('/api/auth/login', account)
    expect(status, text).toBe(200)
    return app.as({ token: json.access_token })
  }
  const admin = await logIn(ADMIN)
  const made = async (path: string, body: object) => {
    const { status, json, text } = await admin.post(path, body)
    expect(status, text).toBe(201)
    return json
  }
  await usePost((path, body) => made(`/api/admin/${path}`, body))
  const mug = await made('/api/catalog/products', {
    ...{ name: 'Fika mug', slug: 'fika-mug', status: 'active' },
    variants: [{ sku: 'FIKA', price: 1_200 }]
  })
  const variantId: string = mug.variants[0].id
  const counted = await admin.put(`/api/inventory/levels/${variantId}`, { on_hand: 10 })
  expect(counted.status, counted.text).toBeLessThan(300)

  return {
    ...{ app, anybody, admin, logIn, mails, mug, variantId },
    /** The mail with this subject to somebody. */
    mail: async (subject: RegExp, to = EMAIL) => {
      const find = () => mails.taken.find(each => each.recipient === to && subject.test(each.subject ?? ''))
      await expect.poll(find, PATIENCE).toBeDefined()
      return find()
    },
    /** How many can be bought. */
    available: async (): Promise<number> => {
      const { json } = await anybody.get(`/api/inventory/availability?variant_ids=${variantId}`)
      return json.items[0].available
    },
    /** The money of an order has arrived. */
    receive: async (orderId: string) => {
      const { json } = await admin.get(`/api/admin/orders/${orderId}`)
      const { items } = (await admin.get(`/api/admin/payments?order_id=${orderId}`)).json
      const taken = await admin.post(`/api/admin/payments/${items[0].id}/capture`, { amount: json.total })
      expect(taken.status, taken.text).toBe(200)
    }
  }
}
