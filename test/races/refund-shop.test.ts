import { expect, test } from 'vitest'
import { createDice, type Dice } from '../chaos/dice.ts'
import { CARD, usePaidOrders } from '../support/paid-orders.ts'

type Shop = Awaited<ReturnType<typeof usePaidOrders>>

const ORDERS = Number(process.env.SHOP_ORDERS ?? 12)
const STEPS = 7
const TRANSFER = { provider: 'manual', method: 'bank_transfer' }
const REASON = { reason: 'a scratch' }

/** Money and price of each order, once all payments are settled. */
const SUMS = `
  select orders.state, orders.total::int, accounts.due::int, accounts.captured::int, accounts.refunded::int,
    accounts.refunding::int,
    (select coalesce(sum(amount), 0)::int from orders.adjustments where order_id = orders.id) as credited
  from orders.orders join payments.accounts on accounts.order_id = orders.id order by orders.id`

type Amounts = Record<'total' | 'due' | 'captured' | 'refunded' | 'refunding' | 'credited', number>

/** One step of an order. The shop may reject any of them. */
async function takeStep(shop: Shop, dice: Dice, id: string): Promise<void> {
  const manage = (what: string, body: object) => shop.admin.post(`/api/admin/orders/${id}/${what}`, body)
  const line = { line: 1, quantity: 1 + dice.below(2) }
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      if (dice.chance(0.1)) await shop.sandbox.fault('drop')
      await shop.buyer.post('/api/payments/intent', { order_id: id, ...dice.of([CARD, TRANSFER]) })
      const open = `select id, provider, amount::int from payments.payments where order_id = $1 and is_open`
      for (const { id: payment, provider, amount } of await shop.sql(open, [id]))
        if (provider === 'manual') {
          const part = 1 + dice.below(Number(amount))
          await shop.admin.post(`/api/admin/payments/${payment}/capture`, { amount: part })
        } else {
          const intent = await shop.sandbox.intentOf(String(payment))
          if (intent === undefined) continue
          await shop.sandbox.ask(`/test/payment_intents/${intent.id}/pay`, {})
          if (dice.chance(0.7)) await shop.callBack(id)
        }
    },
    () => manage('shipments', {}),
    () => manage('cancel', { lines: [line] }),
    () => manage('refunds', { lines: [line], ...REASON }),
    () => manage('refunds', { amount: 1 + dice.below(2_000), ...REASON }),
    () => manage('cancel', {}),
    async () => {
      await shop.sql(`update orders.orders set created_at = created_at - interval '8 days' where id = $1`, [
        id
      ])
      await shop.sql(`update cartwright.jobs set due_at = now() where lease is null`)
    }
  ]
  const kind = dice.of([0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 6])
  await steps[kind]?.()
}

test(`what is kept is the price of each of ${ORDERS} orders with random payments, refunds and lost responses`, async () => {
  const seed = Number(process.env.SEED ?? 7)
  const shop = await usePaidOrders({ settings: { CARTWRIGHT__ORDERS__PENDING_PER_BUYER: '100' } })
  const dice = createDice(seed)
  const ids: string[] = []
  for (let count = 0; count < ORDERS; count += 1) ids.push((await shop.order(1 + dice.below(4))).id)
  await Promise.all(
    ids.map(async id => {
      const own = dice.split()
      for (let step = 0; step < STEPS; step += 1) await takeStep(shop, own, id)
    })
  )
  await shop.settled()
  const all = await shop.sql(SUMS)
  expect(all).toHaveLength(ORDERS)
  for (const { state, total, due, captured, refunded, refunding, credited } of all as (Amounts & {
    state: string
  })[]) {
    const text = JSON.stringify({ seed, state, total, due, captured, refunded, refunding, credited })
    const kept = captured - refunded
    const price = total - credited
    expect(refunding, text).toBe(0)
    expect(kept, text).toBeGreaterThanOrEqual(0)
    if (state === 'canceled') expect(kept, text).toBe(0)
    else if (captured >= due) expect(kept, text).toBe(price + Math.max(0, captured - total))
    else expect(kept, text).toBeLessThanOrEqual(price)
  }
})
