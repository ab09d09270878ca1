import { call, newKey, Refusal } from './api.js'
import { readCart } from './basket.js'
import { checkoutKey, keepOrder, sentOrder } from './memory.js'

const HOUR_MS = 3_600_000

/** An order that was sent and not shown yet: it is sent again as it was, before anything else is ordered. */
export function unanswered() {
  const sent = sentOrder.get()
  return sent !== undefined && Date.now() - sent.at < HOUR_MS ? sent : undefined
}

/**
 * Orders once: the request and its key are kept until the order is shown, so that a page that is loaded again, or a network
 * that comes back, neither orders twice nor loses the order. Answers the order's id and token.
 */
export async function place(sent) {
  sentOrder.set(sent)
  try {
    const order = await call('POST', '/orders/guest', sent)
    const { id, order_token: token, number, created_at: at } = order
    keepOrder({ id, token, number, at })
    sentOrder.set({ ...sent, orderId: id })
    checkoutKey.forget()
    readCart().catch(() => {})
    return { id, token }
  } catch (error) {
    if (!(error instanceof Refusal && error.isOpen)) sentOrder.forget()
    throw error
  }
}

export function orderIsShown(id) {
  if (sentOrder.get()?.orderId === id) sentOrder.forget()
}

export const newOrder = body => ({ key: newKey(), body, at: Date.now() })
export const linkToOrder = ({ id, token }) =>
  token === undefined ? `#/orders/${id}` : `#/orders/${id}/${token}`
