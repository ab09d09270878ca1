/**
 * What this browser remembers: the tokens of its cart, checkout and orders, who has logged in, the market, and an order that was sent.
 * Where nothing may be stored it lasts as long as the page.
 */
const PREFIX = 'cartwright-shop.'
const inMemory = new Map()

function recall(name) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? undefined
  } catch {
    return inMemory.get(name)
  }
}
function remember(name, value) {
  inMemory.set(name, value)
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // It stays in memory.
  }
}
const kept = name => ({
  get: () => recall(name),
  set: value => remember(name, value),
  forget: () => remember(name, undefined)
})

/** The token of the cart. */
export const cartToken = kept('cart')
/** `{ id, token }` of the checkout. */
export const checkoutKey = kept('checkout')
/** The access token of whoever has logged in, which lasts a quarter of an hour. */
export const accessToken = kept('access')
/** The code of the market that was chosen. */
export const chosenMarket = kept('market')
/** `{ key, body, at, orderId? }`: an order that was sent and not shown yet. */
export const sentOrder = kept('sent-order')

const orders = kept('orders')
/** `{ id, token, number, at }`, the newest first; without a token where it belongs to an account. */
export const knownOrders = () => orders.get() ?? []
export const tokenOfOrder = id => knownOrders().find(order => order.id === id)?.token
export function keepOrder(order) {
  orders.set([order, ...knownOrders().filter(({ id }) => id !== order.id)].slice(0, 50))
}
