import { hash, randomBytes } from 'node:crypto'

const TOKEN_BYTES = 32
const TOKEN = /^gct_[\w-]{43}$/

/** The key to a guest's cart: 256 random bits. Whoever holds it may use the cart; nothing else leads there. */
export const newGuestCartToken = (): string => `gct_${randomBytes(TOKEN_BYTES).toString('base64url')}`

/** What is stored and looked up in its place; `undefined` for what cannot be a token. */
export const guestCartTokenHash = (token: string): Buffer | undefined =>
  TOKEN.test(token) ? hash('sha256', token, 'buffer') : undefined
