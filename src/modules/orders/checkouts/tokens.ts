import type { Secrets } from '../../../platform/secrets/secrets.ts'

const TOKEN_PURPOSE = 'orders.checkout_token'
const TOKEN_VERSION = '1'
const TOKEN_PREFIX = 'cht_'

/**
 * The token of a guest checkout: a MAC of its id. Nothing is stored, and a repeated request returns the same
 * token.
 */
export const deriveCheckoutToken = (secrets: Secrets, id: string): string =>
  TOKEN_PREFIX + secrets.mac(TOKEN_PURPOSE, id, TOKEN_VERSION)

export const isValidCheckoutToken = (secrets: Secrets, token: string, id: string): boolean =>
  token.startsWith(TOKEN_PREFIX) &&
  secrets.verify(token.slice(TOKEN_PREFIX.length), TOKEN_PURPOSE, id, TOKEN_VERSION)
