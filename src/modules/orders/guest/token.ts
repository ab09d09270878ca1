import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'orders.checkout_token'
const VERSION = '1'
const PREFIX = 'cht_'

/**
 * The key to a guest's checkout, which only this shop can make from its id: nothing is stored, and whoever repeats the request
 * that made the checkout is told it again.
 */
export const checkoutToken = (secrets: Secrets, id: string): string =>
  PREFIX + secrets.mac(PURPOSE, id, VERSION)

export const isCheckoutToken = (secrets: Secrets, token: string, id: string): boolean =>
  token.startsWith(PREFIX) && secrets.verify(token.slice(PREFIX.length), PURPOSE, id, VERSION)
