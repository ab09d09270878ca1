import { expect, test } from 'vitest'
import { STOCKHOLM } from '../support/checkouts.ts'
import { PATIENCE } from '../support/mailing-shop.ts'
import { describeOnAllServices, EMAIL, openMugShop, PASSWORD, TRANSFER } from './shop.ts'

describeOnAllServices(ground => {
  test('a guest browses, fills a cart, registers, merges, orders, pays, tracks the parcel and reviews the product', async () => {
    const { anonymous, admin, logIn, mail, mails, mug, variantId, available, receive } = await openMugShop(
      ground,
      10
    )
    const { items } = (await anonymous.get('/api/products?q=mug')).json
    expect(items.map((each: { name: string }) => each.name)).toEqual(['Fika mug'])
    const { guest_cart_token } = (
      await anonymous.post('/api/guest-cart', { variant_id: variantId, quantity: 2 })
    ).json

    expect(
      (await anonymous.post('/api/auth/register', { email: EMAIL, password: PASSWORD, name: 'Ada' })).status
    ).toBe(201)
    await mail(/welcome/i)
    const { text = '' } = (await mail(/confirm|verify|address/i)) ?? {}
    const token = /#token=(\S+)/.exec(text)?.[1]
    expect((await anonymous.post('/api/auth/verify', { token })).status).toBeLessThan(300)
    const ada = await logIn({ email: EMAIL, password: PASSWORD })
    const merged = (await ada.post('/api/cart/merge', { guest_cart_token })).json
    expect(merged).toMatchObject({ count: 2, merge: { status: 'merged', moved: 1 } })

    const ordered = await ada.post('/api/orders', { shipping_address: STOCKHOLM, payment: TRANSFER })
    expect(ordered.status, ordered.text).toBe(201)
    const { id, number } = ordered.json
    expect(ordered.json).toMatchObject({
      status: 'pending',
      payment_status: 'unpaid',
      total: 2 * 1_200 + 490
    })
    expect((await ada.get('/api/cart')).json.items).toEqual([])
    await expect.poll(() => available(variantId), PATIENCE).toBe(8)

    await receive(id)
    const statusOf = async () => (await ada.get(`/api/orders/${id}`)).json.status
    await expect.poll(statusOf, PATIENCE).toBe('paid')
    const placed = (await mail(/Your order/))?.text
    expect(placed).toContain(number)
    expect(placed).toContain('We have received your payment.')

    const label = { carrier: 'ups', tracking_number: '1Z999AA10123456784' }
    const sent = await admin.post(`/api/admin/orders/${id}/shipments`, label)
    expect(sent.status, sent.text).toBeLessThan(300)
    expect(await statusOf()).toBe('shipped')
    expect((await mail(/way|shipped|sent/i))?.text).toContain('1Z999AA10123456784')

    const { items: shipments } = (await ada.get(`/api/shipping/order/${id}`)).json
    expect(shipments).toMatchObject([{ tracking_number: '1Z999AA10123456784', status: 'in_transit' }])
    const delivered = { status: 'delivered', occurred_at: new Date().toISOString(), location: 'Stockholm' }
    const told = await admin.post(`/api/admin/shipping/shipments/${shipments[0].id}/events`, delivered)
    expect(told.status, told.text).toBeLessThan(300)
    const followed = await anonymous.get('/api/shipping/track/1z999aa10123456784')
    expect(followed.json).toMatchObject({ status: 'delivered', events: [{ location: 'Stockholm' }] })
    expect(followed.text).not.toMatch(/Ada|Drottninggatan|example\.com/)
    await mail(/delivered|arrived/i)

    const review = await ada.post('/api/products/fika-mug/reviews', { rating: 5, body: 'Keeps warm' })
    expect(review.json).toMatchObject({ rating: 5, verified_purchase: true })
    expect((await anonymous.get('/api/products/fika-mug/reviews/rating')).json).toMatchObject({
      average: 5,
      count: 1
    })
    await expect
      .poll(async () => (await anonymous.get(`/api/products/${mug.id}`)).json.rating, PATIENCE)
      .toMatchObject({ count: 1 })

    // No other customer sees any of it, and no mail was sent twice.
    const other = { email: 'eve@example.com', password: PASSWORD }
    await anonymous.post('/api/auth/register', other)
    const eve = await logIn(other)
    for (const path of [`/api/orders/${id}`, `/api/shipping/order/${id}`, `/api/payments/by-order/${id}`])
      expect((await eve.get(path)).status, path).toBe(404)
    const ids = mails.taken.map(({ messageId }) => messageId)
    expect(new Set(ids).size).toBe(ids.length)
  })

  test('a guest orders and pays without an account, is refunded in part, and later gets the rest back', async () => {
    const { anonymous, admin, mail, variantId, available, receive } = await openMugShop(ground, 10)
    const body = {
      email: EMAIL,
      items: [{ variant_id: variantId, quantity: 3 }],
      shipping_address: STOCKHOLM,
      payment: TRANSFER
    }
    const ordered = await anonymous.post('/api/orders/guest', body)
    expect(ordered.status, ordered.text).toBe(201)
    const { id, order_token, total } = ordered.json
    const guest = { 'x-order-token': order_token }
    const read = async () => (await anonymous.get(`/api/orders/guest/${id}`, undefined, guest)).json
    await receive(id)
    await expect.poll(async () => (await read()).status, PATIENCE).toBe('paid')
    // What the mail leads to is this order, by a token behind the #.
    expect((await mail(/order/i))?.text).toContain(`/orders/${id}#token=`)

    const refunded = await admin.post(`/api/admin/orders/${id}/refunds`, { amount: 500, reason: 'a crack' })
    expect(refunded.status, refunded.text).toBeLessThan(300)
    await mail(/refund|back/i)
    const canceled = await anonymous.post(`/api/orders/guest/${id}/cancel`, undefined, guest)
    expect(canceled.status, canceled.text).toBeLessThan(300)
    await expect.poll(async () => (await read()).status, PATIENCE).toBe('canceled')
    await expect.poll(() => available(variantId), PATIENCE).toBe(10)
    await mail(/cancel/i)
    const { json } = await admin.get(`/api/admin/orders/${id}`)
    expect(json.total).toBe(total)
    expect(
      (await anonymous.get(`/api/orders/guest/${id}`, undefined, { 'x-order-token': 'ort_guessed' })).status
    ).toBe(404)
  })
})
