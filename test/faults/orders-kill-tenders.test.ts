import { expect, test } from 'vitest'
import { admin, customer } from '../../src/testing.ts'
import { brokenGiftCards, GIFT_CARD_SETTINGS, giftCard, giftCardsIn } from '../support/gift-cards.ts'
import { sent } from '../support/orders.ts'
import { CARD } from '../support/paid-orders.ts'
import type { CrashPoint, SentRequest } from './crash-points.ts'
import { TIMEOUT_MS, useCrashShop } from './crash-shop.ts'

// Lane long: it takes 10 seconds. orders-kill-place.test.ts kills a process while it places an order.

const UNITS = 2
const TOTAL = 2_490
const WORTH = 1_000
const ADMIN = admin()

/** A shop in which each order has a gift card of its own that covers a part, and a card payment for the rest. */
async function useGiftCardOrders() {
  const shop = await useCrashShop('automatic', ['gift-cards'], GIFT_CARD_SETTINGS)
  const { issue, balanceOf } = giftCardsIn(shop.sql)
  const codes = new Map<SentRequest, string>()
  return {
    ...shop,
    balanceOf,
    codeOf: (request: SentRequest) => codes.get(request) ?? '',
    newOrder: async () => {
      const code = await issue(WORTH)
      const body = { ...sent(shop.mug, UNITS), payment: CARD, tenders: [giftCard(code)] }
      const { token } = customer()
      const request = shop.keyed({ method: 'POST', path: '/api/orders', token, body })
      codes.set(request, code)
      return { request, code, token, body }
    },
    expectMatchingCards: async () => {
      await shop.expectMatchingLedgers()
      expect(await brokenGiftCards(shop.sql)).toEqual([])
    }
  }
}

const PLACEMENT: readonly CrashPoint[] = [
  { statement: 'gift_cards.save_reservation', at: 'behind its commit' },
  { statement: 'orders.insert_tenders', at: 'before' },
  { statement: 'gift_cards.redeem_reservations', at: 'behind' },
  { statement: 'idempotency.mark_key_applied', at: 'behind its commit' }
]

test(
  'an order whose process is killed while a gift card pays for it takes the amount once, or leaves it on the card',
  async () => {
    const shop = await useGiftCardOrders()
    const placed: string[] = []
    const retry = async (crashPoint: string, request: SentRequest) => {
      const made = await shop.retried(crashPoint, request)
      expect(made, crashPoint).toMatchObject({ total: TOTAL, tenders: [{ amount: WORTH, refunded: 0 }] })
      expect(await shop.balanceOf(shop.codeOf(request)), crashPoint).toBe(0)
      placed.push(made.id)
    }
    const withoutOrder: [string, SentRequest][] = []
    const prepare = async () => (await shop.newOrder()).request
    await shop.atEachCrashPoint(PLACEMENT, prepare, async (crashPoint, index, request) => {
      const { items } = (await shop.as({ token: request.token ?? '' }).get('/api/orders')).json
      expect(await shop.balanceOf(shop.codeOf(request)), crashPoint).toBe(items.length === 0 ? WORTH : 0)
      // Half of the customers without an order retry later.
      if (items.length === 0 && index % 2 === 0) withoutOrder.push([crashPoint, request])
      else await retry(crashPoint, request)
    })
    // Reservations of killed processes expire.
    await shop.sql('update gift_cards.reservations set expires_at = now()')
    await shop.sql(`update inventory.reservations set expires_at = now() where state = 'held'`)
    for (const [crashPoint, request] of withoutOrder) await retry(crashPoint, request)
    for (const id of placed) {
      await shop.act(id, 'pay')
      await shop.callBack(id)
      await shop.becomes(id, { status: 'paid', payment_status: 'paid' })
    }
    await shop.expectMatchingCards()
    const charges = (await shop.sandbox.objects()).filter(({ object }) => object === 'charge')
    expect(charges.map(({ amount }) => amount)).toEqual(placed.map(() => TOTAL - WORTH))
  },
  TIMEOUT_MS
)

const REFUND: readonly CrashPoint[] = [
  { statement: 'gift_cards.refund_to_cards', at: 'behind' },
  { statement: 'idempotency.mark_key_applied', at: 'behind its commit' },
  { statement: 'payments.upsert_facts', at: 'before' }
]
const AMOUNT = TOTAL - WORTH + 400
const OPERATIONS = {
  'an order with a gift card is canceled': {
    verb: 'cancel',
    body: {},
    finalOrder: { status: 'canceled', payment_status: 'refunded', tenders: [{ refunded: WORTH }] },
    balance: WORTH
  },
  'an order with a gift card is refunded': {
    verb: 'refunds',
    body: { amount: AMOUNT, reason: 'it was broken' },
    finalOrder: { payment_status: 'partially_refunded', tenders: [{ refunded: 400 }] },
    balance: 400
  }
} as const

test.each(Object.entries(OPERATIONS))(
  'a process is killed while %s: the card and the payment get their parts once',
  async (_, { verb, body, finalOrder, balance }) => {
    const shop = await useGiftCardOrders()
    const orders = new Map<string, string>()
    const prepare = async (): Promise<SentRequest> => {
      const { request, code } = await shop.newOrder()
      const { method, path, ...options } = request
      const { json } = await shop.request(method, path, options)
      await shop.pay(json.id)
      orders.set(json.id, code)
      return shop.keyed({
        method: 'POST',
        path: `/api/admin/orders/${json.id}/${verb}`,
        token: ADMIN.token,
        body
      })
    }
    await shop.atEachCrashPoint(REFUND, prepare, async (crashPoint, index, request) => {
      // The retry or the background jobs may run first.
      if (index % 2 === 1) await shop.settled()
      await shop.retried(crashPoint, request)
    })
    await shop.expectMatchingCards()
    for (const [id, code] of orders) {
      expect(await shop.read(id)).toMatchObject(finalOrder)
      expect(await shop.balanceOf(code)).toBe(balance)
    }
    const refunds = (await shop.sandbox.objects()).filter(({ object }) => object === 'refund')
    expect(refunds.map(({ amount }) => amount)).toEqual([...orders].map(() => TOTAL - WORTH))
  },
  TIMEOUT_MS
)
