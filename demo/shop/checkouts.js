import { ApiError, call } from './api.js'
import { callAsCustomer, isLoggedIn } from './session.js'
import { cartToken, storedCheckout } from './storage.js'

const GONE = ['CHECKOUT_NOT_FOUND', 'CHECKOUT_EXPIRED', 'CHECKOUT_CANCELED']

function undefinedIfGone(error) {
  if (error instanceof ApiError && GONE.includes(error.code)) return undefined
  throw error
}

/** Customers send their access token, guests the token of the checkout. */
function send(method, known, body) {
  if (known === undefined && !isLoggedIn()) return call(method, '/checkouts/guest', { body })
  if (known?.token === undefined)
    return callAsCustomer(method, known === undefined ? '/checkouts' : `/checkouts/${known.id}`, { body })
  return call(method, `/checkouts/guest/${known.id}`, { body, headers: { 'x-checkout-token': known.token } })
}

/**
 * Returns the stored checkout, updated with the current cart. When it is closed, returns a new one with the same entries, or with
 * the default address.
 */
export async function openCheckout(defaultAddress) {
  const known = storedCheckout.get()
  const before = known && (await send('GET', known).catch(undefinedIfGone))
  const isOfGuest = known?.token !== undefined && isLoggedIn()
  const isChanged = before?.findings.some(({ code }) => code === 'CART_CHANGED')
  if (before?.status === 'open' && !isChanged && !isOfGuest) return before
  const entries = { ...cartReference(), shipping_address: defaultAddress, ...(before && entriesOf(before)) }
  if (isOfGuest) {
    // The guest has logged in, so the entries move to a checkout of the customer.
    storedCheckout.clear()
    if (!before?.shipping_address?.line1) entries.shipping_address = defaultAddress
  }
  return saveCheckout(entries)
}

/** Replaces all entries of the checkout. Creates a new checkout when there is none. */
export async function saveCheckout(body) {
  const known = storedCheckout.get()
  const changed = known && (await send('PUT', known, body).catch(undefinedIfGone))
  if (changed !== undefined) return changed
  const { checkout_token: token, ...begun } = await send('POST', undefined, body)
  storedCheckout.set({ id: begun.id, token })
  return begun
}

export const cartReference = () => (isLoggedIn() ? { cart: true } : { guest_cart_token: cartToken.get() })

function entriesOf({ email, shipping_address, shipping_option, codes, note }) {
  const entries = Object.entries({ email, shipping_address, shipping_option, note })
  return { ...cartReference(), codes, ...Object.fromEntries(entries.filter(([, value]) => value !== null)) }
}
