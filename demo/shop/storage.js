/**
 * Data in the local storage of this browser: the refresh token of a customer, the tokens of a guest's cart, checkout and orders,
 * the market, the language, and an order request. When the browser stores nothing, the data lasts as long as the page.
 */
export const PREFIX = 'cartwright-shop.'
const inMemory = new Map()

function readItem(name) {
  if (inMemory.has(name)) return inMemory.get(name)
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? undefined
  } catch {
    return undefined
  }
}
function writeItem(name, value) {
  inMemory.delete(name)
  try {
    if (value === undefined) localStorage.removeItem(PREFIX + name)
    else localStorage.setItem(PREFIX + name, JSON.stringify(value))
  } catch {
    // Local storage is blocked or full.
    inMemory.set(name, value)
  }
}
const stored = name => ({
  get: () => readItem(name),
  set: value => writeItem(name, value),
  clear: () => writeItem(name, undefined)
})

/** The token of a guest's cart. */
export const cartToken = stored('cart')
/** `{ id, token }` of the checkout. Customers have no token. */
export const storedCheckout = stored('checkout')
/** The refresh token of the customer. Any script of the page can read it, so the Content-Security-Policy allows no others. */
export const refreshToken = stored('refresh')
/** The code of the market that the shopper chose. */
export const chosenMarket = stored('market')
/** The code of the language that the shopper chose. */
export const chosenLanguage = stored('language')
/** `{ path, key, body, at, orderId? }`: an order request whose order was not shown yet. */
export const sentOrderRequest = stored('sent-order')

const orders = stored('orders')
/** `{ id, token, number, at }` of guest orders, newest first. */
export const guestOrders = () => orders.get() ?? []
export const tokenOfOrder = id => guestOrders().find(order => order.id === id)?.token
export const storeOrder = order => orders.set([order, ...ordersExcept(order.id)].slice(0, 50))
export const forgetOrder = id => orders.set(ordersExcept(id))
const ordersExcept = id => guestOrders().filter(order => order.id !== id)
