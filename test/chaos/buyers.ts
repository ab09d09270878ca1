import { setTimeout as delay } from 'node:timers/promises'
import { newId } from '../../src/kernel/ids.ts'
import { throughCheckout } from './checkouts.ts'
import { type Order, orderTokenHeader, payFor } from './payers.ts'
import {
  type Buyer,
  itemFor,
  orderFields,
  type PurchaseFlow,
  recordAttempt,
  recordResponse,
  tenderFields,
  unitsOf
} from './purchases.ts'
import { type Attempt, countInReport, sendOnce, sendUntilAcknowledged, type Units } from './run-record.ts'

const PAUSE_MS = 30
const CANCEL_SHARE = 0.12

/** Buys, pays and sometimes cancels, until the run stops. */
export async function actAsBuyer(buyer: Buyer): Promise<void> {
  const { record, dice } = buyer
  let previous: Order | undefined
  while (!record.stopping) {
    const order = await dice.of(WAYS)(buyer)
    if (order !== undefined) {
      countInReport(record, 'acknowledged orders')
      await spy(buyer, order, previous)
      previous = order
      if (dice.chance(CANCEL_SHARE)) await Promise.all([payFor(buyer, order), cancel(buyer, order)])
      else await payFor(buyer, order)
      if (dice.chance(CANCEL_SHARE)) await cancel(buyer, order)
    }
    await delay(PAUSE_MS)
  }
}

const guestWithKey: PurchaseFlow = async buyer => {
  const wanted = [itemFor(buyer)]
  const attempt = recordAttempt(buyer, { isKeyed: true, units: unitsOf(wanted) })
  const body = { items: wanted, ...orderFields(buyer, attempt.note), ...tenderFields(buyer) }
  const order = recordResponse(
    buyer,
    attempt,
    await sendUntilAcknowledged(buyer, newId(), { ...GUEST_ORDER, body })
  )
  return order && { id: order.id, guestToken: order.order_token }
}
const GUEST_ORDER = { method: 'POST', path: '/api/orders/guest' }

const guestWithoutKey: PurchaseFlow = async buyer => {
  const wanted = [itemFor(buyer)]
  const attempt = recordAttempt(buyer, { isKeyed: false, units: unitsOf(wanted) })
  const body = { items: wanted, ...orderFields(buyer, attempt.note), ...tenderFields(buyer) }
  const order = recordResponse(buyer, attempt, await sendOnce(buyer, { ...GUEST_ORDER, body }))
  return order && { id: order.id, guestToken: order.order_token }
}

/** Orders one cart in two tabs simultaneously, with one key, two keys or none. */
const customerInTwoTabs: PurchaseFlow = async buyer => {
  const { account: token } = buyer
  const wanted = twice(buyer)
  const filled: boolean[] = []
  for (const body of wanted)
    filled.push(
      (await sendUntilAcknowledged(buyer, newId(), { method: 'POST', path: '/api/cart', token, body }))
        ?.status === 200
    )
  const request = { method: 'POST', path: '/api/orders', token }
  const units = filled.every(isDone => isDone) ? unitsOf(wanted) : undefined
  const order = await inTwoTabs(buyer, { cart: newId(), units }, request)
  // Empties the cart, so that lines that could not be bought do not block the next order.
  if (order === undefined)
    await sendUntilAcknowledged(buyer, newId(), { method: 'DELETE', path: '/api/cart', token })
  return order && { id: order.id, customer: token }
}

/** Orders one guest cart on two devices simultaneously. */
const guestOnTwoDevices: PurchaseFlow = async buyer => {
  const [body, more] = twice(buyer)
  const answer = await sendUntilAcknowledged(buyer, newId(), {
    method: 'POST',
    path: '/api/guest-cart',
    body
  })
  const cart = answer?.json?.guest_cart_token
  if (typeof cart !== 'string') return undefined
  const headers = { 'x-guest-cart-token': cart }
  const added = await sendUntilAcknowledged(buyer, newId(), {
    method: 'POST',
    path: '/api/guest-cart',
    headers,
    body: more
  })
  const units = added?.status === 200 ? unitsOf([body, more]) : undefined
  const order = await inTwoTabs(buyer, { cart, units }, GUEST_ORDER, { guest_cart_token: cart })
  return order && { id: order.id, guestToken: order.order_token }
}

/** Returns the same variant twice. The cart adds up the quantities. */
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
  const first = recordAttempt(buyer, { ...of, isKeyed })
  const second = how === 'one key' ? first : recordAttempt(buyer, { ...of, isKeyed })
  const bodyOf = ({ note }: Attempt) => ({ ...orderFields(buyer, note), ...tenderFields(buyer), ...more })
  const firstBody = bodyOf(first)
  const keys = how === 'one key' ? [newId()] : [newId(), newId()]
  const tab = async (attempt: Attempt, body: object, key: string) =>
    recordResponse(
      buyer,
      attempt,
      how === 'no key'
        ? await sendOnce(buyer, { ...request, body })
        : await sendUntilAcknowledged(buyer, key, { ...request, body })
    )
  const [one, other] = await Promise.all([
    tab(first, firstBody, keys[0] as string),
    tab(second, second === first ? firstBody : bodyOf(second), keys.at(-1) as string)
  ])
  return one ?? other
}

const WAYS: readonly PurchaseFlow[] = [
  guestWithKey,
  guestWithKey,
  guestWithoutKey,
  customerInTwoTabs,
  guestOnTwoDevices,
  throughCheckout,
  throughCheckout
]

async function cancel(buyer: Buyer, { id, guestToken, customer }: Order): Promise<void> {
  const answer = await sendUntilAcknowledged(buyer, newId(), {
    method: 'POST',
    path: customer === undefined ? `/api/orders/guest/${id}/cancel` : `/api/orders/${id}/cancel`,
    ...(customer !== undefined && { token: customer }),
    headers: orderTokenHeader(guestToken),
    body: {}
  })
  if (answer?.json?.status === 'canceled') buyer.record.canceled.add(id)
  countInReport(buyer.record, `cancel: ${answer?.status}`)
}

/** Checks that a client that knows the order's id gets nothing with no token, an empty one, or another order's. */
async function spy(buyer: Buyer, { id }: Order, another: Order | undefined): Promise<void> {
  const { record, dice, goods } = buyer
  const token = dice.of([undefined, '', 'ort_', 'ort_test.AAAA', another?.guestToken])
  const headers = orderTokenHeader(token)
  const answers = await Promise.all([
    sendOnce(buyer, { method: 'GET', path: `/api/orders/guest/${id}`, headers }),
    sendOnce(buyer, { method: 'GET', path: `/api/payments/guest/by-order/${id}`, headers }),
    sendOnce(buyer, { method: 'GET', path: `/api/orders/${id}`, token: goods.admin })
  ])
  for (const answer of answers)
    if (answer !== undefined && answer.status < 400)
      record.wrong.add(`another buyer's order was shown for ${JSON.stringify(headers)}`)
}
