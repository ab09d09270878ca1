import type { Secrets } from '../../../platform/secrets/secrets.ts'

const PURPOSE = 'payments.order_token'
const PREFIX = 'ort_'

/** Computes the token that gives access to a guest's order. It is derived, not stored, so it can be computed again. */
export const deriveOrderToken = (secrets: Secrets, orderId: string, version: number): string =>
  PREFIX + secrets.mac(PURPOSE, orderId, String(version))

export const isValidOrderToken = (
  secrets: Secrets,
  token: string,
  orderId: string,
  version: number
): boolean =>
  token.startsWith(PREFIX) && secrets.verify(token.slice(PREFIX.length), PURPOSE, orderId, String(version))
