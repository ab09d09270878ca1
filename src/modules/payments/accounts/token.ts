import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'payments.order_token'
const PREFIX = 'ort_'

/** What shows that an order without an account is the caller's. Nothing is stored: it can be told again at any time. */
export const orderToken = (secrets: Secrets, orderId: string, version: number): string =>
  PREFIX + secrets.mac(PURPOSE, orderId, String(version))

export const isOrderToken = (secrets: Secrets, token: string, orderId: string, version: number): boolean =>
  token.startsWith(PREFIX) && secrets.verify(token.slice(PREFIX.length), PURPOSE, orderId, String(version))
