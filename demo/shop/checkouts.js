import { call, Refusal } from './api.js'
import { cartToken, checkoutKey } from './memory.js'

const path = ({ id }) => `/checkouts/guest/${id}`
const headersOf = ({ token }) => ({ 'x-checkout-token': token })
const GONE = ['CHECKOUT_NOT_FOUND', 'CHECKOUT_EXPIRED', 'CHECKOUT_CANCELED']

function unlessGone(error) {
  if (error instanceof Refusal && GONE.includes(error.code)) return undefined
  throw error
}

/** The checkout of this browser, with what the cart holds now; or a new one, which says what that one said. */
export async function openCheckout(firstCountry) {
  const known = checkoutKey.get()
  const before = known && (await call('GET', path(known), { headers: headersOf(known) }).catch(unlessGone))
  const isChanged = before?.findings.some(({ code }) => code === 'CART_CHANGED')
  if (before?.status === 'open' && !isChanged) return before
  return sayAnew(before ? saidIn(before) : { ...ofCart(), shipping_address: { country: firstCountry } })
}

/** Says all of it anew, in a new checkout where there is none any more. */
export async function sayAnew(body) {
  const known = checkoutKey.get()
  const changed =
    known && (await call('PUT', path(known), { headers: headersOf(known), body }).catch(unlessGone))
  if (changed !== undefined) return changed
  const begun = await call('POST', '/checkouts/guest', { body })
  checkoutKey.set({ id: begun.id, token: begun.checkout_token })
  return begun
}

export const ofCart = () => ({ guest_cart_token: cartToken.get() })

function saidIn({ email, shipping_address, shipping_option, codes, note }) {
  const said = Object.entries({ email, shipping_address, shipping_option, note })
  return { ...ofCart(), codes, ...Object.fromEntries(said.filter(([, value]) => value !== null)) }
}
