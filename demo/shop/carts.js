import { ApiError, call } from './api.js'
import { announce } from './dom.js'
import { callAsCustomer, ignoreLoginRequired, isLoggedIn } from './session.js'
import { cartToken } from './storage.js'
import { t } from './texts.js'

const EMPTY = { items: [], unavailable_items: [], count: 0, total: 0, subtotal: 0, discount_total: 0 }

// A customer's cart belongs to the account. Every browser with its token has access to a guest's cart.
const customerCart = { path: '/cart', send: callAsCustomer }
const guestCart = () => {
  const token = cartToken.get()
  const headers = token === undefined ? {} : { 'x-guest-cart-token': token }
  return {
    path: '/guest-cart',
    send: (method, path, options) => call(method, path, { ...options, headers })
  }
}
const currentCart = () => (isLoggedIn() ? customerCart : guestCart())

/** Shows the number of units beside the link to the cart, and returns the cart. */
function showCount(cart) {
  document.getElementById('count').textContent = cart.count === 0 ? '' : String(cart.count)
  return cart
}

/** Returns an empty cart when the guest's cart has expired. */
async function emptyIfExpired(work) {
  try {
    return showCount(await work())
  } catch (error) {
    if (!isCartMissing(error)) throw error
    cartToken.clear()
    return showCount(EMPTY)
  }
}
const isCartMissing = error => error instanceof ApiError && error.code === 'CART_GUEST_NOT_FOUND'

/** Returns the cart of the customer, after merging a guest's cart of this browser into it, or the cart of the guest. */
export async function readCart() {
  if (isLoggedIn()) {
    const cart = await readCustomerCart().catch(ignoreLoginRequired)
    if (cart !== undefined) return showCount(cart)
  }
  if (cartToken.get() === undefined) return showCount(EMPTY)
  return emptyIfExpired(() => guestCart().send('GET', '/guest-cart'))
}

async function readCustomerCart() {
  await mergeCarts()
  return callAsCustomer('GET', '/cart')
}

/** Keeps the token of the guest's cart until the shop confirms the merge, so that the merge can be repeated. */
async function mergeCarts() {
  const token = cartToken.get()
  if (token === undefined) return
  try {
    const { merge } = await callAsCustomer('POST', '/cart/merge', { body: { guest_cart_token: token } })
    if (merge.adjustments?.length > 0) announce(t.cart.cut)
  } catch (error) {
    if (!isCartMissing(error)) throw error
  }
  cartToken.clear()
}

/** Adds units of a variant. Without a token, the shop creates a cart for the guest. */
export async function addToCart(variant_id, quantity) {
  const add = () => {
    const { path, send } = currentCart()
    return send('POST', path, { body: { variant_id, quantity } })
  }
  const cart = await add().catch(error => {
    if (!isCartMissing(error)) throw error
    cartToken.clear()
    return add()
  })
  if (cart.guest_cart_token !== undefined) cartToken.set(cart.guest_cart_token)
  return showCount(cart)
}

export const setQuantity = (lineId, quantity) => changeLine('PATCH', lineId, { quantity })
export const removeFromCart = lineId => changeLine('DELETE', lineId)

function changeLine(method, lineId, body) {
  const { path, send } = currentCart()
  return emptyIfExpired(() => send(method, `${path}/lines/${lineId}`, { body }))
}
