import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import { type Attempt, ask, count, insist, type Units } from './book.ts'
import { throughCheckout } from './checkouts.ts'
import { type Order, payFor, proofOf } from './payers.ts'
import { type Buyer, begin, hear, itemFor, said, unitsOf, type Way } from './purchases.ts'

const PAUSE_MS = 30
const CANCEL_SHARE = 0.12

/** Buys, pays, and sometimes thinks better of it, until told to stop. */
export async function buy(buyer: Buyer): Promise<void> {
  const { book, dice } = buyer
  let previous: Order | undefined
  while (!book.stopping) {
    const order = await dice.of(WAYS)(buyer)
    if (order !== undefined) {
      count(book, 'acknowledged orders')
      await spy(buyer, order, previous)
      previous = order
      if (dice.chance(CANCEL_SHARE)) await Promise.all([payFor(buyer, order), cancel(buyer, order)])
      else await payFor(buyer, order)
      if (dice.chance(CANCEL_SHARE)) await cancel(buyer, order)
    }
    await delay(PAUSE_MS)
  }
}

const guestWithKey: Way = async buyer => {
  const wanted = [itemFor(buyer)]
  const attempt = begin(buyer, { isKeyed: true, units: unitsOf(wanted) })
  const body = { items: wanted, ...said(buyer, attempt.note) }
  const order = hear(buyer, attempt, await insist(buyer, newId(), { ...GUEST_ORDER, body }))
  return order && { id: order.id, guestToken: order.order_token }
}
const GUEST_ORDER = { method: 'POST', path: '/api/orders/guest' }

const guestWithoutKey: Way = async buyer => {
  const wanted = [itemFor(buyer)]
  const attempt = begin(buyer, { isKeyed: false, units: unitsOf(wanted) })
  const body = { items: wanted, ...said(buyer, attempt.note) }
  const order = hear(buyer, attempt, await ask(buyer, { ...GUEST_ORDER, body }))
  return order && { id: order.id, guestToken: order.order_token }
}

/** Two tabs order the same cart at once: with one key, with two, or with none. */
const customerInTwoTabs: Way = async buyer => {
  const { account: token } = buyer
  const wanted = twice(buyer)
  const filled: boolean[] = []
  for (const body of wanted)
    filled.push(
      (await insist(buyer, newId(), { method: 'POST', path: '/api/cart', token, body }))?.status === 200
    )
  const request = { method: 'POST', path: '/api/orders', token }
  const units = filled.every(isDone => isDone) ? unitsOf(wanted) : undefined
  const order = await inTwoTabs(buyer, { cart: newId(), units }, request)
  // What could not be bought is not in the way of the next time.
  if (order === undefined) await insist(buyer, newId(), { method: 'DELETE', path: '/api/cart', token })
  return order && { id: order.id, customer: token }
}

/** Two devices order the same guest cart at once. */
const guestOnTwoDevices: Way = async buyer => {
  const [body, more] = twice(buyer)
  const answer = await insist(buyer, newId(), { method: 'POST', path: '/api/guest-cart', body })
  const cart = answer?.json?.guest_cart_token
  if (typeof cart !== 'string') return undefined
  const headers = { 'x-guest-cart-token': cart }
  const added = await insist(buyer, newId(), { method: 'POST', path: '/api/guest-cart', headers, body: more })
  const units = added?.status === 200 ? unitsOf([body, more]) : undefined
  const order = await inTwoTabs(buyer, { cart, units }, GUEST_ORDER, { guest_cart_token: cart })
  return order && { id: order.id, guestToken: order.order_token }
}

/** The same variant is put into a cart twice: its quantities add up. */
function twice(buyer: Buyer) {
  const item = itemFor(buyer)
  return [item, { ...item, quantity: 1 }] as const
}

async function inTwoTabs(
  buyer: Buyer,
  of: { cart: string; units: Units | undefined },
  request: { method: string; path: string; token?: string },
  more: object = {}
) {
  const how = buyer.dice.of(['one key', 'two keys', 'no key'])
  const isKeyed = how !== 'no key'
  const first = begin(buyer, { ...of, isKeyed })
  const second = how === 'one key' ? first : begin(buyer, { ...of, isKeyed })
  const bodyOf = ({ note }: Attempt) => ({ ...said(buyer, note), ...more })
  const firstBody = bodyOf(first)
  const keys = how === 'one key' ? [newId()] : [newId(), newId()]
  const tab = async (attempt: Attempt, body: object, key: string) =>
    hear(
      buyer,
      attempt,
      how === 'no key'
        ? await ask(buyer, { ...request, body })
        : await insist(buyer, key, { ...request, body })
    )
  const [one, other] = await Promise.all([
    tab(first, firstBody, keys[0] as string),
    tab(second, second === first ? firstBody : bodyOf(second), keys.at(-1) as string)
  ])
  return one ?? other
}

const WAYS: readonly Way[] = [
  guestWithKey,
  guestWithKey,
  guestWithoutKey,
  customerInTwoTabs,
  guestOnTwoDevices,
  throughCheckout,
  throughCheckout
]

async function cancel(buyer: Buyer, { id, guestToken, customer }: Order): Promise<void> {
  const answer = await insist(buyer, newId(), {
    method: 'POST',
    path: customer === undefined ? `/api/orders/guest/${id}/cancel` : `/api/orders/${id}/cancel`,
    ...(customer !== undefined && { token: customer }),
    headers: proofOf(guestToken),
    body: {}
  })
  if (answer?.json?.status === 'canceled') buyer.book.canceled.add(id)
  count(buyer.book, `cancel: ${answer?.status}`)
}

/** Checks that a client that knows the order's id gets nothing with no token, an empty one, or another order's. */
async function spy(buyer: Buyer, { id }: Order, another: Order | undefined): Promise<void> {
  const { book, dice, goods } = buyer
  const token = dice.of([undefined, '', 'ort_', 'ort_test.AAAA', another?.guestToken])
  const headers = proofOf(token)
  const answers = await Promise.all([
    ask(buyer, { method: 'GET', path: `/api/orders/guest/${id}`, headers }),
    ask(buyer, { method: 'GET', path: `/api/payments/guest/by-order/${id}`, headers }),
    ask(buyer, { method: 'GET', path: `/api/orders/${id}`, token: goods.admin })
  ])
  for (const answer of answers)
    if (answer !== undefined && answer.status < 400)
      book.wrong.add(`another buyer's order was shown for ${JSON.stringify(headers)}`)
}
