import { hash } from 'node:crypto'
import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'cart.guest_token'
const TOKEN = /^gct_[\w-]{43}$/

/**
 * Derives the tokens of a guest cart from its id: 256-bit MACs, one per secret of the shop. The first token,
 * of the current secret, is issued; the others were issued with earlier secrets. Deriving it lets a retry
 * return the same token without storing it.
 */
export const deriveGuestCartTokens = (secrets: Secrets, cartId: string): string[] =>
  secrets.everyMac(PURPOSE, cartId).map(mac => `gct_${mac.slice(mac.lastIndexOf('.') + 1)}`)

/** Returns the hash that is stored instead of the token, or `undefined` when the token is malformed. */
export const hashGuestCartToken = (token: string): Buffer | undefined =>
  TOKEN.test(token) ? hash('sha256', token, 'buffer') : undefined
