import { call, Refusal } from './api.js'
import { cartToken } from './memory.js'

const EMPTY = { items: [], unavailable_items: [], count: 0, total: 0, subtotal: 0, discount_total: 0 }
const headers = () => {
  const token = cartToken.get()
  return token === undefined ? {} : { 'x-guest-cart-token': token }
}

/** Shows how many things there are beside the link to the cart. */
function counted(cart) {
  document.getElementById('count').textContent = cart.count === 0 ? '' : String(cart.count)
  return cart
}

/** A cart that expired is an empty one. */
async function orEmpty(work) {
  try {
    return counted(await work())
  } catch (error) {
    if (!(error instanceof Refusal && error.code === 'CART_GUEST_NOT_FOUND')) throw error
    cartToken.forget()
    return counted(EMPTY)
  }
}

export const readCart = () =>
  cartToken.get() === undefined
    ? Promise.resolve(counted(EMPTY))
    : orEmpty(() => call('GET', '/guest-cart', { headers: headers() }))

/** Without a token, a cart is made. */
export async function addToCart(variant_id, quantity) {
  const add = () => call('POST', '/guest-cart', { headers: headers(), body: { variant_id, quantity } })
  const cart = await add().catch(error => {
    if (error.code !== 'CART_GUEST_NOT_FOUND') throw error
    cartToken.forget()
    return add()
  })
  if (cart.guest_cart_token !== undefined) cartToken.set(cart.guest_cart_token)
  return counted(cart)
}

export const setQuantity = (variantId, quantity) =>
  orEmpty(() => call('PUT', `/guest-cart/items/${variantId}`, { headers: headers(), body: { quantity } }))

export const removeFromCart = variantId =>
  orEmpty(() => call('DELETE', `/guest-cart/items/${variantId}`, { headers: headers() }))
