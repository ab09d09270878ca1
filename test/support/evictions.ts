import { expect } from 'vitest'
import { customer, fakeAuth } from '../../src/testing.ts'
import { itemOf, STOCKHOLM } from './checkouts.ts'
import { ownNetworks } from './networks.ts'
import { TRANSFER } from './orders.ts'
import { CARD, usePaidOrders } from './paid-orders.ts'
import { STOCK_FAULTS } from './stock-ledger.ts'

const METHODS = ['bank_transfer', 'cash_on_delivery', 'on_account']
/** Limits that no siege of a test reaches, so that the stock can be reserved as a whole. */
const NO_LIMITS = Object.fromEntries(
  ['BUYER', 'NETWORK', 'UNVERIFIED'].map(scope => [
    `CARTWRIGHT__ORDERS__UNPAID_STOCK__${scope}__SHARE_PERCENT`,
    '100'
  ])
)

const withAuth = () => ({ auth: fakeAuth() })

/** A shop in which unpaid orders of many networks reserve stock, and buyers pay by card. */
export async function useEvictions({
  capture = 'automatic' as 'automatic' | 'manual',
  settings = {} as Readonly<Record<string, string>>
} = {}) {
  const shop = await usePaidOrders({
    capture,
    instead: withAuth,
    settings: {
      CARTWRIGHT__PAYMENTS__MANUAL_METHODS: JSON.stringify(METHODS),
      CARTWRIGHT__SERVER__TRUST_PROXY: 'true',
      CARTWRIGHT__RATE_LIMIT__ENABLED: 'false',
      ...NO_LIMITS,
      CARTWRIGHT__ORDERS__UNPAID_STOCK__CARD_MINUTES: '0',
      ...settings
    }
  })
  const { auth } = shop.instead
  const addressOf = ownNetworks()
  const asGuest = async (quantity: number, payment: object, network: string) => {
    const email = `guest-${crypto.randomUUID()}@example.com`
    const body = { items: [itemOf(shop.mug, quantity)], email, shipping_address: STOCKHOLM, payment }
    return shop.anonymous.post('/api/orders/guest', body, { 'x-forwarded-for': addressOf(network) })
  }
  const tokens = new Map<string, string>()
  const made = (answer: { status: number; text: string; json: Record<string, string> }): string => {
    expect(answer.status, answer.text).toBe(201)
    tokens.set(String(answer.json.id), String(answer.json.order_token))
    return String(answer.json.id)
  }
  const stateOf = async (id: string): Promise<string> => {
    const [row] = await shop.sql('select state from orders.orders where id = $1', [id])
    return String(row?.state)
  }
  return {
    ...shop,
    auth,
    asGuest,
    made,
    stateOf,
    /** The guest says that they are back from paying. */
    confirm: (id: string) =>
      shop.anonymous.post(`/api/payments/guest/by-order/${id}/confirm`, undefined, {
        'x-order-token': tokens.get(id) ?? ''
      }),
    transfer: async (quantity: number, network = '192.0.2.1') =>
      made(await asGuest(quantity, TRANSFER, network)),
    card: async (quantity: number, network = '198.51.100.1') => made(await asGuest(quantity, CARD, network)),
    /** A customer, whose address is verified. */
    verified: () => {
      const caller = customer()
      auth.addContact({ id: caller.id, email: `${caller.id}@example.com`, emailVerified: true })
      return shop.as(caller)
    },
    /** The buyer pays at the provider, and the shop hears of it. */
    payCard: async (id: string) => {
      await shop.act(id, 'pay')
      expect(await shop.callBack(id)).toBeLessThan(300)
    },
    becomesState: (id: string, state: string) => expect.poll(() => stateOf(id)).toBe(state),
    /** Units that the order has reserved. */
    unitsOf: async (id: string): Promise<number> => {
      const [row] = await shop.sql(
        `select coalesce(sum(quantity - fulfilled), 0)::int as units from inventory.reservations
         where owner = $1 and state <> 'closed'`,
        [id]
      )
      return Number(row?.units)
    },
    /** Units of the mug that pending card orders can take from unpaid orders. */
    contested: () =>
      shop.sql('select owner, quantity from inventory.contested where item_id = $1 order by owner', [
        shop.mug
      ]),
    /** Levels are what movements and reservations say. */
    proveStock: async () => expect(await shop.sql(STOCK_FAULTS)).toEqual([])
  }
}
