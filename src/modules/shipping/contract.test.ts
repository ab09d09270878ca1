import { describe, expect, test } from 'vitest'
import { useParcels } from '../../../test/support/shipping.ts'
import { transactionsInMemory } from '../../../test/support/transactions-in-memory.ts'
import { newId } from '../../kernel/ids.ts'
import type { Database } from '../../platform/postgres/database.ts'
import { customer } from '../../testing.ts'
import { deriveOrderToken } from '../payments/index.ts'
import { fakeShipping } from './fake.ts'
import type { ShippingApi } from './index.ts'

type Line = { readonly line: number; readonly quantity: number }
type Caller = ReturnType<typeof customer>
type Subject = {
  shipping: ShippingApi
  db: Database
  /** The shipments that a customer sees: whether each is shipped, and its lines. Null: a guest with the first token. */
  seen(caller: Caller | null, orderId: string): Promise<(readonly [boolean, readonly Line[]])[]>
}

async function useReal(): Promise<Subject> {
  const { shipping, db, as, platform } = await useParcels()
  return {
    shipping,
    db,
    seen: async (caller, orderId) => {
      const path = caller === null ? `guest/order/${orderId}` : `order/${orderId}`
      const headers =
        caller === null ? { 'x-order-token': deriveOrderToken(platform.secrets, orderId, 1) } : {}
      const { json } = await as(caller).get(`/api/shipping/${path}`, undefined, headers)
      return (json.items ?? []).map((each: { sent_at: unknown; lines: Line[] }) => [
        each.sent_at !== null,
        each.lines
      ])
    }
  }
}

async function useFake(): Promise<Subject> {
  const shipping = fakeShipping()
  return {
    shipping,
    db: transactionsInMemory,
    seen: async (caller, orderId) =>
      shipping
        .listVisibleTo(caller?.id ?? null, orderId)
        .map(({ label, lines }) => [label !== null, lines] as const)
  }
}

const option = {
  id: 'post',
  method: 'shipping',
  provider: null,
  service: 'Post',
  estimatedDays: null
} as const
const GOODS = { key: 'goods', lines: [{ line: 1, quantity: 3 }] }
const DIGITAL = { key: 'digital', lines: [{ line: 2, quantity: 1 }] }
const label = { carrier: 'Post', tracking_number: 'PP1', unchecked: false }

describe.each([
  ['shipping', useReal],
  ['the fake of shipping', useFake]
])('%s', (_, use) => {
  test('shipping stores unshipped and shipped parcels in the transaction of the order, for customers and guests', async () => {
    const { shipping, db, seen } = await use()
    const [ada, bob, orderId] = [customer(), customer(), newId()]
    const groups = [
      { ...GOODS, option },
      { ...DIGITAL, option: { ...option, method: 'digital' as const } }
    ]
    const failed = db.transaction(async tx => {
      await shipping.createShipments(tx, { orderId, customerId: null, groups })
      throw new Error('no order')
    })
    await expect(failed).rejects.toThrow('no order')
    expect(await seen(null, orderId)).toEqual([])
    await db.transaction(tx => shipping.createShipments(tx, { orderId, customerId: null, groups }))
    expect(await seen(null, orderId)).toEqual([[false, GOODS.lines]])
    expect(await seen(ada, orderId)).toEqual([])

    const [one, two] = [[{ line: 1, quantity: 1 }], [{ line: 1, quantity: 2 }]]
    const id = newId()
    await db.transaction(async tx => {
      const order = { id: orderId, customer_id: null, token_version: 1 }
      const kept = await shipping.recordShipped(tx, {
        id,
        order,
        groups: [{ key: 'goods', lines: one }],
        label
      })
      expect(kept).toMatchObject({ carrier: 'Post', tracking_number: 'PP1' })
      await shipping.updateUnshipped(tx, orderId, [{ key: 'goods', lines: two }])
    })
    expect((await seen(null, orderId)).toSorted()).toEqual([
      [false, two],
      [true, one]
    ])
    await db.transaction(async tx => {
      const corrected = await shipping.updateLabel(tx, id, { ...label, tracking_number: null })
      expect(corrected).toMatchObject({ carrier: 'Post', tracking_number: null })
    })
    await db.transaction(tx => shipping.updateUnshipped(tx, orderId, []))
    expect(await seen(null, orderId)).toEqual([[true, one]])

    await db.transaction(tx => shipping.assignCustomer(tx, orderId, ada.id))
    expect([await seen(null, orderId), await seen(ada, orderId), await seen(bob, orderId)]).toEqual([
      [],
      [[true, one]],
      []
    ])
    await db.transaction(tx => shipping.erase(tx, [orderId]))
    expect([await seen(null, orderId), await seen(ada, orderId)]).toEqual([[], []])
  })

  test('shipping keeps a voided parcel, and its contents are unshipped again', async () => {
    const { shipping, db, seen } = await use()
    const [orderId, id] = [newId(), newId()]
    const groups = [{ ...GOODS, option }]
    const open = () =>
      db.transaction(tx => shipping.createShipments(tx, { orderId, customerId: null, groups }))
    await open()
    await db.transaction(async tx => {
      const order = { id: orderId, customer_id: null, token_version: 1 }
      await shipping.recordShipped(tx, { id, order, groups: [GOODS], label })
      await shipping.updateUnshipped(tx, orderId, [])
    })
    expect(await seen(null, orderId)).toEqual([[true, GOODS.lines]])
    await db.transaction(tx => shipping.voidParcel(tx, { shipmentId: id, actor: null, reason: 'wrong' }))
    // Existing shipments stay as they are.
    for (const _ of [1, 2]) await open()
    expect((await seen(null, orderId)).toSorted()).toEqual([
      [false, GOODS.lines],
      [true, GOODS.lines]
    ])
    // An unknown parcel was shipped while the module was disabled.
    await db.transaction(tx => shipping.voidParcel(tx, { shipmentId: newId(), actor: null, reason: 'wrong' }))
  })
})
