import { hash } from 'node:crypto'
import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'cart.guest_token'
const TOKEN = /^gct_[\w-]{43}$/

/**
 * The keys to a guest's cart: 256 bits that only this shop can make from the cart's id, so that whoever repeats the
 * request that made the cart is told the same one again, and nothing has to keep it. The first one is given out; the
 * others are what earlier secrets made.
 */
export const guestCartTokens = (secrets: Secrets, cartId: string): string[] =>
  secrets.everyMac(PURPOSE, cartId).map(mac => `gct_${mac.slice(mac.lastIndexOf('.') + 1)}`)

/** What is stored and looked up in its place; `undefined` for what cannot be a token. */
export const guestCartTokenHash = (token: string): Buffer | undefined =>
  TOKEN.test(token) ? hash('sha256', token, 'buffer') : undefined
