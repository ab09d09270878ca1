import { expect, test } from 'vitest'
import { createProduct } from '../../../../test/support/catalog.ts'
import { itemOf, STOCKHOLM } from '../../../../test/support/checkouts.ts'
import { useOrders } from '../../../../test/support/orders.ts'
import { customer } from '../../../testing.ts'

const STATEMENTS_MAX = 22
/** Statements that the stock writer sends for a batch of many orders. */
const isOfWriter = (name: string) => /^inventory\.(?!claim_)/.test(name)

/** Statements of an order of a cart with that many lines, with warm caches. */
async function statementsOf(lines: number): Promise<string[]> {
  const shop = await useOrders({ settings: { CARTWRIGHT__CART__LINES_MAX: '200' } })
  const sizes = Array.from({ length: lines }, (_, number) => `S${number}`)
  const { variants } = await createProduct(shop, {
    options: [{ name: 'Size', values: sizes }],
    variants: sizes.map(Size => ({ sku: crypto.randomUUID(), price: 100, attributes: { Size } }))
  })
  const items = variants.map(({ id }: { id: string }) => itemOf(id))
  for (let from = 0; from < lines; from += 10) {
    const some: { variant_id: string }[] = items.slice(from, from + 10)
    await Promise.all(some.map(({ variant_id }) => shop.stock(variant_id, 10)))
  }
  const caller = customer()
  const buyer = shop.as(caller)
  const order = async () => {
    expect((await buyer.post('/api/cart/merge', { items })).status).toBe(200)
    const headers = { 'idempotency-key': crypto.randomUUID() }
    const { result, statements } = await shop.record(() =>
      buyer.post('/api/orders', { shipping_address: STOCKHOLM }, headers)
    )
    const { status, text, json } = result
    expect(status, text).toBe(201)
    expect(json.items).toHaveLength(lines)
    return statements.filter(name => !isOfWriter(name))
  }
  await order()
  return order()
}

test('an order of a cart needs about 20 statements, for 5 lines as for 200', async () => {
  const few = await statementsOf(5)
  expect(few.length, few.join('\n')).toBeLessThanOrEqual(STATEMENTS_MAX)
  // A long response is not stored, but computed again.
  expect(await statementsOf(200)).toEqual(few.filter(name => name !== 'idempotency.finish_keys'))
})
