import { expect, test } from 'vitest'
import { giftCardsModule } from '../../examples/gift-cards/gift-cards/index.ts'
import { openTestShop } from '../../src/testing.ts'
import { CHECKOUT_MODULES } from '../support/checkouts.ts'
import { brokenGiftCards, giftCard, giftCardsIn } from '../support/gift-cards.ts'
import { sent } from '../support/orders.ts'
import { CARD } from '../support/paid-orders.ts'
import { type CrashPoint, crashPointName, startVictim } from './crash-points.ts'
import { useCrashShop } from './crash-shop.ts'

// Lane long: it takes 10 seconds. orders-kill-place.test.ts kills a process while it places an order.

const CRASH_POINTS: readonly CrashPoint[] = [
  { statement: 'orders.update_expiry', at: 'behind' },
  { statement: 'payments.insert_operations', at: 'behind its commit' },
  { statement: 'payments.upsert_facts', at: 'before' },
  { statement: 'inventory.insert_requests', at: 'behind its commit' },
  { statement: 'gift_cards.refund_to_cards', at: 'behind' }
]
const WORTH = 1_000
const EXPIRE = `handler = 'orders.expire_orders'`

test('an order whose process is killed during its expiry is canceled, and its stock and gift card are available again', async () => {
  const shop = await useCrashShop('automatic', ['gift-cards'])
  const { issue, balanceOf } = giftCardsIn(shop.sql)
  await shop.platform.outbox.stop()
  await shop.sql(`update cartwright.jobs set due_at = 'infinity' where ${EXPIRE}`)
  for (const crashPoint of CRASH_POINTS) {
    const isWithCard = crashPoint.statement.startsWith('gift_cards.')
    const code = await issue(WORTH)
    const tenders = isWithCard ? [giftCard(code)] : []
    const { id } = (await shop.buyer.post('/api/orders', { ...sent(shop.mug), payment: CARD, tenders })).json
    expect(await balanceOf(code)).toBe(isWithCard ? 0 : WORTH)
    const hourAgo = `created_at = created_at - interval '1 hour', expires_at = expires_at - interval '1 hour'`
    await shop.sql(`update orders.orders set ${hourAgo} where id = $1`, [id])
    const victim = await startVictim(shop, shop.settings, 'jobs', 'gift-cards')
    await victim.crashInBackground(crashPoint, () =>
      shop.sql(`update cartwright.jobs set due_at = now(), lease = null where ${EXPIRE}`)
    )
    // The leases of the killed process expire, and another process continues.
    await shop.sql('update cartwright.jobs set due_at = now(), lease = null where lease is not null')
    const { databaseUrl, settings } = shop
    const modules = [...CHECKOUT_MODULES, giftCardsModule]
    const nextProcess = await openTestShop({ modules, databaseUrl, settings })
    try {
      await shop.sql(`update cartwright.jobs set due_at = now() where ${EXPIRE} and lease is null`)
      await shop.becomes(id, { status: 'canceled', payment_status: isWithCard ? 'refunded' : 'unpaid' })
      await shop.expectMatchingLedgers()
    } finally {
      await nextProcess.close()
    }
    expect([await balanceOf(code), await brokenGiftCards(shop.sql)]).toEqual([WORTH, []])
    await shop.sql(`update cartwright.jobs set due_at = 'infinity', lease = null where ${EXPIRE}`)
    const { history } = await shop.read(id)
    expect(
      history.map(({ action }: { action: string }) => action),
      crashPointName(crashPoint)
    ).toEqual([...['create', 'cancel', 'confirm_cancel']])
  }
  expect(await shop.reserved(shop.mug)).toEqual([])
  const intents = (await shop.sandbox.objects()).filter(({ object }) => object === 'payment_intent')
  expect(intents.map(({ status }) => status)).toEqual(CRASH_POINTS.map(() => 'canceled'))
})
