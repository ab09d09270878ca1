import { describe, expect, test } from 'vitest'
import { compileAnswer } from '../../../../test/support/answer-schema.ts'
import { sent, TRANSFER } from '../../../../test/support/orders.ts'
import { usePaidOrders } from '../../../../test/support/paid-orders.ts'
import { needsOwnShop, shareShops } from '../../../../test/support/shared-shops.ts'
import { customer } from '../../../testing.ts'
import { AdminOrderResponse } from './schema.ts'

shareShops()

const of = (line: number, quantity: number) => ({ lines: [{ line, quantity }] })

describe('a paid order', () => {
  test('a paid order is shipped in parcels, returned, refunded and completed', async () => {
    needsOwnShop()
    const shop = await usePaidOrders()
    const { id, total } = await shop.order(3)
    await shop.pay(id)
    const part = await shop.does(id, 'shipments', { ...of(1, 2), carrier: 'Post', tracking_number: 'S10' })
    expect(compileAnswer(AdminOrderResponse)(part)).toEqual([])
    expect(part).toMatchObject({
      status: 'paid',
      fulfillment_status: 'partial',
      shipments: [{ carrier: 'Post', tracking_number: 'S10', lines: [{ line: 1, quantity: 2 }] }]
    })
    await expect.poll(() => shop.reserved(shop.mug)).toMatchObject([{ state: 'confirmed' }])
    expect((await shop.does(id, 'shipments')).status).toBe('shipped')
    await expect.poll(() => shop.reserved(shop.mug)).toEqual([])
    const [level] = await shop.sql('select on_hand, reserved from inventory.levels')
    expect(level).toMatchObject({ on_hand: 97, reserved: 0 })

    expect((await shop.does(id, 'returns', of(1, 1))).fulfillment_status).toBe('partially_returned')
    await expect
      .poll(async () => (await shop.sql('select on_hand from inventory.levels'))[0]?.on_hand)
      .toBe(98)
    const refund = await shop.does(id, 'refunds', { ...of(1, 1), reason: 'it was chipped' })
    expect(refund).toMatchObject({
      payment_status: 'partially_refunded',
      items: [{ returned: 1, refunded: 1 }]
    })
    expect(refund.adjustments).toMatchObject([
      { kind: 'refund', amount: 1_000, back: 1_000, reason: 'it was chipped' }
    ])
    const rest = await shop.does(id, 'refunds', { ...of(1, 2), reason: 'all of it' })
    expect(rest).toMatchObject({ payment_status: 'refunded' })
    // The last unit also refunds the delivery.
    expect(rest.adjustments[1]).toMatchObject({ amount: total - 1_000, back: total - 1_000 })
    expect((await shop.does(id, 'transition', { action: 'complete' })).status).toBe('completed')
    expect((await shop.does(id, 'transition', { action: 'reopen' })).status).toBe('shipped')
  })

  test('a paid order is refunded by amounts, at most its total', async () => {
    const shop = await usePaidOrders()
    const { id, total } = await shop.order()
    await shop.pay(id)
    const refund = await shop.does(id, 'refunds', { amount: 100, reason: 'it was late' })
    expect(refund.adjustments).toMatchObject([{ amount: 100, back: 100 }])
    const body = { amount: total, reason: 'all' }
    const { status, json } = await shop.admin.post(`/api/admin/orders/${id}/refunds`, body)
    expect([status, json.code, json.available]).toEqual([409, 'ORDER_CREDIT_TOO_MUCH', total - 100])
  })

  test('a paid order on hold is shipped only after its release', async () => {
    const shop = await usePaidOrders()
    const { id } = await shop.order()
    await shop.pay(id)
    const held = await shop.does(id, 'transition', { action: 'hold', reason: 'a strange address' })
    expect(held.held_at).not.toBeNull()
    expect(held.next_actions).toContain('release')
    const refused = await shop.admin.post(`/api/admin/orders/${id}/shipments`, {})
    expect([refused.status, refused.json.reason]).toEqual([409, 'held'])
    await shop.does(id, 'notes', { text: 'They confirmed it by phone.' })
    await shop.does(id, 'transition', { action: 'release' })
    const { history } = await shop.does(id, 'shipments')
    expect(history.slice(2)).toMatchObject([
      { action: 'hold', reason: 'a strange address', actor: expect.any(String) },
      { action: 'note', reason: 'They confirmed it by phone.' },
      ...[{ action: 'release' }, { action: 'fulfil' }]
    ])
    // Internal actions of administrators are hidden from buyers.
    const { json } = await shop.buyer.get(`/api/orders/${id}`)
    expect(json.history.map(({ action }: { action: string }) => action)).toEqual([
      'create',
      'place',
      'fulfil'
    ])
    expect(JSON.stringify(json)).not.toContain('phone')
  })

  test('a paid order with a canceled line costs less, and the difference is refunded', async () => {
    const shop = await usePaidOrders()
    const { id } = await shop.order(3)
    await shop.pay(id)
    const order = await shop.does(id, 'cancel', { ...of(1, 1), reason: 'the last one broke' })
    expect(order).toMatchObject({ status: 'paid', items: [{ canceled: 1 }] })
    expect(order.adjustments).toMatchObject([{ kind: 'cancel', amount: 1_000, back: 1_000 }])
    await expect.poll(() => shop.reserved(shop.mug)).toMatchObject([{ quantity: 2 }])
    const all = await shop.admin.post(`/api/admin/orders/${id}/cancel`, of(1, 2))
    expect([all.status, all.json.reason]).toEqual([409, 'whole_order'])
  })

  test('an order with a line canceled before the capture captures less, with the first shipment', async () => {
    const shop = await usePaidOrders({ capture: 'manual' })
    const { id, total } = await shop.order(3)
    await shop.pay(id)
    const { adjustments } = await shop.does(id, 'cancel', of(1, 1))
    expect(adjustments).toMatchObject([{ amount: 1_000, back: 0 }])
    await shop.does(id, 'shipments')
    await shop.settled()
    const order = await shop.becomes(id, { status: 'shipped', payment_status: 'paid' })
    const [account] = await shop.sql(
      'select captured::int, due::int from payments.accounts where order_id = $1',
      [id]
    )
    expect(account).toEqual({ captured: total - 1_000, due: total - 1_000 })
    expect(order.total).toBe(total)
  })
})

describe('an action that is not allowed', () => {
  test('an order action that is not allowed changes nothing and reports the reason', async () => {
    const shop = await usePaidOrders()
    const { id } = await shop.order()
    const before = await shop.read(id)
    const path = `/api/admin/orders/${id}`
    for (const [what, body, status, wanted] of [
      ['shipments', {}, 409, { code: 'ORDER_ACTION_REFUSED', reason: 'state' }],
      ['refunds', { amount: 1, reason: 'x' }, 409, { code: 'ORDER_ACTION_REFUSED' }],
      ['returns', of(1, 1), 409, { code: 'ORDER_ACTION_REFUSED' }],
      ['cancel', of(2, 1), 400, { code: 'ORDER_LINE_UNKNOWN', lines: [2] }],
      ['cancel', of(1, 3), 409, { code: 'ORDER_UNITS_SHORT', items: [{ line: 1, available: 2 }] }],
      ['transition', { action: 'place' }, 400, {}],
      ['transition', { action: 'complete' }, 409, { action: 'complete', reason: 'state' }],
      ['refunds', { reason: 'neither' }, 400, { code: 'ORDER_CREDIT_UNCLEAR' }],
      ['refunds', { amount: 1, ...of(1, 1), reason: 'both' }, 400, { code: 'ORDER_CREDIT_UNCLEAR' }],
      ['refunds', { amount: -1, reason: 'x' }, 400, {}],
      ['notes', { text: '' }, 400, {}]
    ] as const) {
      const answer = await shop.admin.post(`${path}/${what}`, body)
      expect([answer.status, answer.json], what).toMatchObject([status, wanted])
    }
    expect(await shop.read(id)).toEqual(before)
    const stale = await shop.admin.post(`${path}/notes`, { text: 'x' }, { 'if-match': '"9"' })
    expect([stale.status, stale.json.code]).toEqual([412, 'ORDER_STALE'])
  })
})

describe('the order list', () => {
  test('the order list has the orders that match the filters, newest first, also as a file', async () => {
    needsOwnShop()
    const shop = await usePaidOrders()
    const other = shop.as(customer())
    const ids: string[] = []
    for (const email of ['ada@example.com', 'Bob@example.com', undefined]) {
      const body = { ...sent(shop.mug), payment: TRANSFER, ...(email && { email }) }
      ids.push((await other.post('/api/orders', body)).json.id)
    }
    await shop.pay((await shop.order()).id)
    const idsOf = async (query: string) => {
      const { status, json, text } = await shop.admin.get(`/api/admin/orders${query}`)
      expect(status, text).toBe(200)
      return json.items.map(({ id }: { id: string }) => ids.indexOf(id))
    }
    expect(await idsOf('')).toEqual([-1, 2, 1, 0])
    expect(await idsOf('?status=paid')).toEqual([-1])
    expect(await idsOf('?status=pending&payment_status=unpaid')).toEqual([2, 1, 0])
    expect(await idsOf('?email=BOB@EXAMPLE.COM')).toEqual([1])
    expect(await idsOf(`?customer_id=${shop.caller.id}`)).toEqual([-1])
    expect(await idsOf('?fulfillment_status=fulfilled')).toEqual([])
    expect(await idsOf(`?from=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([])
    expect(await idsOf(`?to=${new Date(Date.now() + 60_000).toISOString()}`)).toEqual([-1, 2, 1, 0])
    const { number } = await shop.read(String(ids[1]))
    expect(await idsOf(`?number=${number}`)).toEqual([1])
    expect(await idsOf(`?number=${number.replace('-', '').toLowerCase()}`)).toEqual([1])
    const { json: page } = await shop.admin.get('/api/admin/orders?limit=1&count=true&status=pending')
    expect(page).toMatchObject({ total: 3, items: [{ id: ids[2] }] })
    expect(await idsOf(`?limit=1&status=pending&cursor=${page.next_cursor}`)).toEqual([1])

    const file = await shop.admin.get('/api/admin/orders/export?status=pending')
    const rows = file.text.trim().split('\r\n')
    expect(rows).toHaveLength(4)
    expect(rows[0]).toMatch(/^number,status,payment_status,/)
    expect(rows[2]).toContain('bob@example.com')
  })
})
