import { expect, test } from 'vitest'
import { STOCKHOLM } from '../support/checkouts.ts'
import { PATIENCE } from '../support/mailing-shop.ts'
import { describeOnAllServices, EMAIL, expectSuccess, openMugShop, PASSWORD, TRANSFER } from './shop.ts'

type Item = { id: unknown; quantity: number; metadata: Record<string, string> }
/** Quantities of items by their engraving; without one: "none". */
const quantitiesOf = (items: readonly Item[]) =>
  Object.fromEntries(items.map(({ quantity, metadata }) => [metadata.engraving ?? 'none', quantity]))
const itemWith = (items: readonly Item[], engraving: string) =>
  items.find(({ metadata }) => metadata.engraving === engraving)

describeOnAllServices(ground => {
  test('two engravings of one variant stay two lines from the cart to the refund, the mails and the export', async () => {
    const shop = await openMugShop(ground, 10)
    const { anonymous, admin, logIn, mail, variantId, available, receive } = shop
    const mug = (quantity: number, engraving?: string) => ({
      variant_id: variantId,
      quantity,
      ...(engraving !== undefined && { metadata: { engraving } })
    })

    // A guest's cart.
    const { guest_cart_token } = await expectSuccess(anonymous.post('/api/guest-cart', mug(1, 'Ada')))
    const guest = { 'x-guest-cart-token': guest_cart_token }
    await expectSuccess(anonymous.post('/api/guest-cart', mug(1, 'Bob'), guest))
    const filled = await expectSuccess(anonymous.post('/api/guest-cart', mug(1, 'Ada'), guest))
    expect(quantitiesOf(filled.items)).toEqual({ Ada: 2, Bob: 1 })
    const ambiguous = await anonymous.put(`/api/guest-cart/items/${variantId}`, { quantity: 5 }, guest)
    expect([ambiguous.status, ambiguous.json.code]).toEqual([409, 'CART_LINE_AMBIGUOUS'])

    // It merges into the customer's cart: equal lines become one, others stay apart.
    await expectSuccess(
      anonymous.post('/api/auth/register', { email: EMAIL, password: PASSWORD, name: 'Ada' })
    )
    const ada = await logIn({ email: EMAIL, password: PASSWORD })
    await expectSuccess(ada.post('/api/cart', mug(1, 'Ada')))
    await expectSuccess(ada.post('/api/cart', mug(1)))
    const merged = await expectSuccess(ada.post('/api/cart/merge', { guest_cart_token }))
    expect(quantitiesOf(merged.items)).toEqual({ Ada: 3, Bob: 1, none: 1 })

    // The checkout keeps the lines, and costs as much as one line of five mugs.
    const body = { cart: true, email: EMAIL, shipping_address: STOCKHOLM }
    const checkout = await expectSuccess(ada.post('/api/checkouts', body))
    expect(quantitiesOf(checkout.items)).toEqual({ Ada: 3, Bob: 1, none: 1 })
    expect(checkout.items.map(({ id }: Item) => id)).toEqual(merged.items.map(({ id }: Item) => id))
    const whole = await expectSuccess(
      anonymous.post('/api/checkouts/guest', {
        items: [mug(5)],
        email: EMAIL,
        shipping_address: STOCKHOLM
      })
    )
    expect([checkout.total, checkout.quote_hash]).toEqual([whole.total, whole.quote_hash])
    expect(checkout).toMatchObject({ total: 5 * 1_200 + 490, ready: true })

    // So does the order.
    const order = await expectSuccess(
      ada.post(`/api/checkouts/${checkout.id}/complete`, {
        expected_total: checkout.total,
        payment: TRANSFER
      })
    )
    expect(quantitiesOf(order.items)).toEqual({ Ada: 3, Bob: 1, none: 1 })
    expect(order.items.map(({ line_id }: { line_id: string }) => line_id)).toEqual(
      checkout.items.map(({ id }: Item) => id)
    )
    await expect.poll(() => available(variantId), PATIENCE).toBe(5)
    await receive(order.id)
    const statusOf = async () => (await ada.get(`/api/orders/${order.id}`)).json.status
    await expect.poll(statusOf, PATIENCE).toBe('paid')
    const placed = await mail(/Your order/)
    expect(placed?.text).toMatch(/3 x Fika mug.*\n {2}engraving: Ada\n/)
    expect(placed?.text).toMatch(/1 x Fika mug.*\n {2}engraving: Bob\n/)

    // A parcel has the mugs for Ada; its packing slip and mail name the engraving.
    const line = itemWith(order.items, 'Ada')?.id
    const lines = [{ line, quantity: 2 }]
    const sent = await expectSuccess(admin.post(`/api/admin/orders/${order.id}/shipments`, { lines }))
    const parcel = `/api/admin/shipping/shipments/${sent.shipments[0].id}`
    const slip = await expectSuccess(admin.get(`${parcel}/packing-slip.json`))
    expect(slip.lines).toMatchObject([{ line, quantity: 2, metadata: { engraving: 'Ada' } }])
    expect((await admin.get(`${parcel}/packing-slip`)).text).toContain('engraving: Ada')
    const shipped = await mail(/way|shipped/i)
    expect(shipped?.text).toContain('2 x Fika mug\n  engraving: Ada')
    expect(shipped?.text).not.toContain('Bob')

    // One of them comes back and is refunded. The other lines stay as they are.
    const returned = { lines: [{ line, quantity: 1 }], reason: 'a crack' }
    await expectSuccess(admin.post(`/api/admin/orders/${order.id}/returns`, returned))
    const refunded = await expectSuccess(admin.post(`/api/admin/orders/${order.id}/refunds`, returned))
    expect(refunded.adjustments).toMatchObject([
      { kind: 'refund', amount: 1_200, parts: [{ item: line, units: 1 }] }
    ])
    expect(itemWith(refunded.items, 'Ada')).toMatchObject({ fulfilled: 2, returned: 1, refunded: 1 })
    expect(itemWith(refunded.items, 'Bob')).toMatchObject({ fulfilled: 0, returned: 0, refunded: 0 })
    await expect.poll(() => available(variantId), PATIENCE).toBe(6)

    // The export has a row for each line, with its metadata.
    const csv = (await admin.get('/api/admin/orders/export?rows=lines')).text.trim().split('\r\n')
    expect(csv[0]).toMatch(/,metadata$/)
    const rows = csv.filter(row => row.includes('FIKA'))
    expect(rows).toHaveLength(3)
    expect(rows.filter(row => row.endsWith(',"{""engraving"":""Ada""}"'))).toHaveLength(1)
    expect(rows.filter(row => row.endsWith(',"{""engraving"":""Bob""}"'))).toHaveLength(1)
  })
})
