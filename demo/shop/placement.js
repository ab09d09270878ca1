import { ApiError, call, newKey } from './api.js'
import { readCart } from './carts.js'
import { callAsCustomer, isLoggedIn } from './session.js'
import { sentOrderRequest, storedCheckout, storeOrder } from './storage.js'

const HOUR_MS = 3_600_000
const GUEST_PATH = '/orders/guest'

/** Returns the order request whose order was not shown yet. It is sent again unchanged before anything else is ordered. */
export function unansweredOrder() {
  const sent = sentOrderRequest.get()
  return sent !== undefined && Date.now() - sent.at < HOUR_MS ? sent : undefined
}

/** A request without items orders the cart of the customer. */
export const newOrderRequest = ({ cart, ...body }) => ({
  path: isLoggedIn() ? '/orders' : GUEST_PATH,
  key: newKey(),
  body,
  at: Date.now()
})

/**
 * Places an order. The request and its key are stored until the order is shown, so that a reload or a network failure neither
 * orders twice nor loses the order. Returns the id and, for guests, the token of the order.
 */
export async function placeOrder(sent) {
  sentOrderRequest.set(sent)
  const send = sent.path === GUEST_PATH ? call : callAsCustomer
  try {
    const order = await send('POST', sent.path, sent)
    const { id, order_token: token, number, created_at: at } = order
    if (token !== undefined) storeOrder({ id, token, number, at })
    // The request was deleted if the customer has logged out meanwhile.
    if (sentOrderRequest.get()?.key === sent.key) sentOrderRequest.set({ ...sent, orderId: id })
    storedCheckout.clear()
    readCart().catch(() => {})
    return { id, token }
  } catch (error) {
    if (error instanceof ApiError && !error.isOutcomeUnknown) sentOrderRequest.clear()
    throw error
  }
}

export function markOrderShown(id) {
  if (sentOrderRequest.get()?.orderId === id) sentOrderRequest.clear()
}

export const linkToOrder = ({ id, token }) =>
  token === undefined ? `#/orders/${id}` : `#/orders/${id}/${token}`
