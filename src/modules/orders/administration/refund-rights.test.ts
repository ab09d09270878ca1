import { expect, test } from 'vitest'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { shareShops } from '../../../../test/support/shared-shops.ts'
import { newId } from '../../../kernel/ids.ts'
import { fakeAuth } from '../../../testing.ts'

shareShops()

const TOO_OLD = { status: 403, json: { code: 'AUTH_RECENT_LOGIN_REQUIRED', max_age_seconds: 300 } }
const LIMIT = { status: 403, json: { code: 'PAYMENT_REFUND_LIMIT', limit: 1_200 } }
const reason = 'it was late'

/** A shop with small limits, an administrator with a recent login, one with an old login, and an API key. */
async function useLimits() {
  const [recent, old, key] = [newId(), newId(), newId()]
  const fake = fakeAuth()
  const secondsAgo = (seconds: number) => ({ authenticatedAt: Date.now() / 1_000 - seconds })
  const auth = {
    ...fake,
    authenticate: async (token: string) => {
      const { authenticatedAt: _, ...identity } = await fake.authenticate(token)
      if (identity.userId === key) return { ...identity, apiKeyId: newId() }
      return { ...identity, ...secondsAgo(identity.userId === old ? 301 : -86_400) }
    }
  }
  const settings = {
    CARTWRIGHT__PAYMENTS__REFUNDS__RECENT_LOGIN_ABOVE: '1500',
    CARTWRIGHT__PAYMENTS__REFUNDS__API_KEY_MAX: '1200'
  }
  const shop = await usePaidOrders({ settings, instead: { auth } })
  const as = (id: string) => shop.as({ token: `admin-${id}` })
  const paid = async () => {
    const { id } = await shop.order(3)
    await shop.pay(id)
    return id as string
  }
  const paymentOf = async (id: string) =>
    (await as(recent).get(`/api/admin/payments?order_id=${id}`)).json.items[0].id as string
  /** Each way to refund a whole order. */
  const everything = async (caller: ReturnType<typeof as>, id: string) => [
    await caller.post(`/api/admin/orders/${id}/refunds`, { amount: 2_000, reason }),
    await caller.post(`/api/admin/orders/${id}/cancel`, { lines: [{ line: 1, quantity: 2 }] }),
    await caller.post(`/api/admin/orders/${id}/cancel`, {}),
    await caller.post(`/api/admin/payments/${await paymentOf(id)}/refund`, { amount: 2_000, reason })
  ]
  const refundedOf = async (id: string) =>
    (
      await shop.sql('select refunded + refunding as total from payments.accounts where order_id = $1', [id])
    )[0]?.total
  return { ...shop, paid, everything, refundedOf, recent: as(recent), old: as(old), key: as(key) }
}

test("every kind of refund above the administrator's limit needs a recent log-in", async () => {
  const shop = await useLimits()
  const id = await shop.paid()
  for (const answer of await shop.everything(shop.old, id)) expect(answer).toMatchObject(TOO_OLD)
  expect(Number(await shop.refundedOf(id))).toBe(0)
  expect((await shop.recent.post(`/api/admin/orders/${id}/cancel`, {})).status).toBeLessThan(300)
})

test('shipped units that are refunded count with their price against the refund limit', async () => {
  const shop = await useLimits()
  const id = await shop.paid()
  await shop.does(id, 'shipments')
  const path = `/api/admin/orders/${id}/refunds`
  const all = { lines: [{ line: 1, quantity: 3 }], reason }
  expect(await shop.key.post(path, all)).toMatchObject(LIMIT)
  expect(await shop.old.post(path, all)).toMatchObject(TOO_OLD)
  expect((await shop.recent.post(path, all)).status).toBe(200)
})

test("small refunds of one order add up against the administrator's refund limit", async () => {
  const shop = await useLimits()
  const id = await shop.paid()
  const path = `/api/admin/orders/${id}/refunds`
  expect((await shop.old.post(path, { amount: 1_000, reason })).status).toBe(200)
  expect(await shop.old.post(path, { amount: 501, reason })).toMatchObject(TOO_OLD)
  expect((await shop.old.post(path, { amount: 500, reason })).status).toBe(200)
  expect((await shop.recent.post(path, { amount: 501, reason })).status).toBe(200)
  expect(Number(await shop.refundedOf(id))).toBe(2_001)
})

test('an API key has its own limit for refunds', async () => {
  const shop = await useLimits()
  const id = await shop.paid()
  for (const answer of await shop.everything(shop.key, id)) expect(answer).toMatchObject(LIMIT)
  expect(Number(await shop.refundedOf(id))).toBe(0)
  const path = `/api/admin/orders/${id}/refunds`
  expect((await shop.key.post(path, { amount: 1_200, reason })).status).toBe(200)
  expect(await shop.key.post(path, { amount: 1, reason })).toMatchObject(LIMIT)
  expect((await shop.old.post(path, { amount: 300, reason })).status).toBe(200)
})

test('cancellations of unpaid orders, and cancellations by customers, have no refund limit', async () => {
  const shop = await useLimits()
  const unpaid = await shop.order(3)
  expect((await shop.key.post(`/api/admin/orders/${unpaid.id}/cancel`, {})).status).toBeLessThan(300)
  const id = await shop.paid()
  expect((await shop.buyer.post(`/api/orders/${id}/cancel`)).status).toBeLessThan(300)
})
