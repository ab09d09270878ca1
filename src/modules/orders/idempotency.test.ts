import { describe, expect, test } from 'vitest'
import { itemOf, STOCKHOLM, useCheckouts } from '../../../test/support/checkouts.ts'
import { dyingBehindCommit } from '../../../test/support/dying.ts'
import { shareShops } from '../../../test/support/shared-shops.ts'
import { newId } from '../../kernel/ids.ts'
import { customer } from '../../testing.ts'

shareShops()

const GUESTS = '/api/checkouts/guest'

/** Every write of a checkout, as a customer with a cart and as a guest. */
async function useWrites() {
  const shop = await useCheckouts()
  const key = { 'idempotency-key': crypto.randomUUID() }
  // Ids are in the order of time.
  const since = newId()
  const mug = await shop.sell()
  const buyer = shop.as(customer())
  await buyer.post('/api/cart', itemOf(mug, 2))
  const said = { items: [itemOf(mug)], shipping_address: STOCKHOLM }
  const own = (await buyer.post('/api/checkouts', said)).json
  const guests = (await shop.anonymous.post(GUESTS, said)).json
  const token = { 'x-checkout-token': guests.checkout_token as string }
  const writes = {
    'begin with a cart': () => buyer.post('/api/checkouts', { cart: true }, key),
    'begin as a guest': () => shop.anonymous.post(GUESTS, said, key),
    change: () => buyer.put(`/api/checkouts/${own.id}`, { cart: true }, { ...key, 'if-match': '"1"' }),
    'change as a guest': () => shop.anonymous.put(`${GUESTS}/${guests.id}`, said, { ...key, ...token }),
    cancel: () => buyer.post(`/api/checkouts/${own.id}/cancel`, undefined, { ...key, 'if-match': '"1"' })
  }
  /** The checkouts that this test has begun. */
  const stored = () =>
    shop.sql(
      'select id, version, status, input, cart_version from orders.checkouts where id > $1 order by id',
      [since]
    )
  return { ...shop, buyer, writes, stored }
}
const kinds = ['begin with a cart', 'begin as a guest', 'change', 'change as a guest', 'cancel'] as const

describe.each(kinds)('the checkout request "%s"', kind => {
  test('a checkout write is applied once when it is retried after the process died before the response', async () => {
    const shop = await useWrites()
    const send = shop.writes[kind]
    await dyingBehindCommit(shop, send)
    const done = await shop.stored()
    // The cart is empty by now.
    await shop.buyer.delete('/api/cart')
    const retried = await send()
    expect(retried.status).toBe(kind.startsWith('begin') ? 201 : 200)
    expect(await shop.stored()).toEqual(done)
    const row = done.find(({ id }) => id === retried.json.id)
    expect([row?.version, row?.status]).toEqual([retried.json.version, retried.json.status])
    const { json: again } = await send()
    expect([again.id, again.version, again.checkout_token]).toEqual([
      ...[retried.json.id, retried.json.version, retried.json.checkout_token]
    ])
  })

  test('six concurrent checkout writes with one idempotency key are applied once', async () => {
    const shop = await useWrites()
    const before = await shop.stored()
    const answers = await Promise.all(Array.from({ length: 6 }, shop.writes[kind]))
    const done = answers.filter(({ status }) => status < 300)
    expect(done.length).toBeGreaterThan(0)
    for (const { json } of answers.filter(each => !done.includes(each)))
      expect(json.code).toBe('IDEMPOTENCY_KEY_IN_PROGRESS')
    expect(new Set(done.map(({ json }) => `${json.id} ${json.version}`)).size).toBe(1)
    const after = await shop.stored()
    const changed = after.filter(row => !before.some(each => JSON.stringify(each) === JSON.stringify(row)))
    expect(changed).toHaveLength(1)
  })
})
